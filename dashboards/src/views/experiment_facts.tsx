// What was asked, by whom and of which code, and where it ran.
import {
  CacheMode,
  ExperimentKind,
  LaunchMode,
  Schedule,
  TaskState,
  TimingSource,
  type Experiment,
} from '../../generated/proto/assay_pb';
import type { ComponentChildren } from 'preact';
import { duration, settings, time } from '../format';
import { A, Tag } from '../parts';
import { armsOf } from './experiment_rows';

const word = (names: Record<number, string>, value: number) => (names[value] ?? '').toLowerCase().replaceAll('_', ' ');

const isTimed = (kind?: ExperimentKind) => kind !== ExperimentKind.CHECK && kind !== ExperimentKind.BENCH;

// As they were measured; before anything is, as they were asked for.
function modesOf({ spec, state, configurations }: Experiment): string {
  const measured = configurations.map((each) => each.baseline).find((each) => (each?.blocks.length ?? 0) > 0);
  if (!measured && configurations.length > 0 && state > TaskState.RUNNING) return isTimed(spec?.kind) ? 'nothing was timed' : '';
  const modes: [string, string, number][] = [
    ['caches', word(CacheMode, measured?.cacheMode ?? spec?.cacheMode ?? 0), measured?.cacheMode ?? spec?.cacheMode ?? 0],
    ['launches by', word(LaunchMode, measured?.launchMode ?? spec?.launchMode ?? 0), measured?.launchMode ?? spec?.launchMode ?? 0],
    ['times from', word(TimingSource, measured?.timingSource ?? spec?.timingSource ?? 0), measured?.timingSource ?? spec?.timingSource ?? 0],
  ];
  const known = modes.filter(([, , value]) => value > 0).map(([name, text]) => `${name} ${text}`);
  if (measured && spec?.kind !== ExperimentKind.MEASURE) known.push(`order of arms ${spec?.schedule ? Schedule[spec.schedule] : 'BAB'}`);
  return known.join(', ');
}

function Commit({ experiment }: { experiment: Experiment }) {
  const context = experiment.spec?.context;
  return (
    <>
      <A href={`/experiments?commit=${context?.commit ?? ''}`}>
        <code>{context?.commit}</code>
      </A>
      {context?.branch && ` on ${context.branch}`} {context?.dirty && <Tag tone="warn">with changes</Tag>}
    </>
  );
}

export function Facts({ experiment }: { experiment: Experiment }) {
  const { spec, device } = experiment;
  const context = spec?.context;
  const isOver = experiment.finishedNs > 0n && experiment.startedNs > 0n;
  const facts: [string, ComponentChildren][] = [
    ['arms', armsOf(experiment)],
    ['modes', modesOf(experiment)],
    ['device', device?.model ? `${device.model} (${device.uuid || 'no UUID'})` : spec?.device],
    ['commit', context?.commit && <Commit experiment={experiment} />],
    ['branch', !context?.commit && context?.branch],
    ['labels', [settings(context?.labels ?? []), spec?.label].filter(Boolean).join(', ')],
    ['note', context?.note && <span class="note">{context.note}</span>],
    ['code', [device?.codeVersion, device?.buildFlags].filter(Boolean).join(', built with ')],
    ['toolkit, driver', [device?.toolkitVersion, device?.driverVersion].filter(Boolean).join(', ')],
    ['seed', spec?.seed ? String(spec.seed) : ''],
    [
      'submitted',
      `${time(experiment.submittedNs)}${isOver ? `, took ${duration(experiment.finishedNs - experiment.startedNs)}` : ''}`,
    ],
    ['message', experiment.message],
  ];
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value)
        .flatMap(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
    </dl>
  );
}
