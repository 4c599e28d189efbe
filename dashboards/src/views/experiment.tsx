// One experiment: what was asked, what came out, and why the verdicts are what they are.
import { useEffect, useState } from 'preact/hooks';
import {
  CacheMode,
  ExperimentKind,
  ExperimentSchema,
  LaunchMode,
  ReceiptResponseSchema,
  Schedule,
  TaskState,
  TimingSource,
  type Experiment,
} from '../../generated/proto/assay_pb';
import { call, watch } from '../api';
import { Loaded, useData } from '../data';
import { count, micros, settings, time } from '../format';
import { A, Command, Copy, Empty, Page, Section, StateChip, Table, VerdictChip } from '../parts';
import { Roofline } from '../parts/roofline';
import { setQuery, type ViewProps } from '../router';
import { ChecksTable } from './checks_table';
import { ConfigurationDetail } from './configuration_detail';
import { armsOf, kindOf } from './experiment_rows';
import { StagesTable } from './stages_table';

const word = (names: Record<number, string>, value?: number) =>
  (names[value ?? 0] ?? '').toLowerCase().replaceAll('_', ' ').replace(/.*unspecified$/, 'the device’s default');

function Facts({ experiment }: { experiment: Experiment }) {
  const { spec, device } = experiment;
  const context = spec?.context;
  const facts: [string, string | undefined][] = [
    ['device', device ? `${device.model || device.name} (${device.uuid || 'no uuid'})` : spec?.device],
    ['code', device?.codeVersion],
    ['commit', context?.commit && `${context.commit}${context.dirty ? ', with changes' : ''}`],
    ['branch', context?.branch],
    ['labels', [settings(context?.labels ?? []), spec?.label].filter(Boolean).join(', ')],
    ['note', context?.note],
    ['toolkit, driver', [device?.toolkitVersion, device?.driverVersion].filter(Boolean).join(', ')],
    ['build flags', device?.buildFlags],
    ['arms', armsOf(experiment)],
    [
      'modes',
      spec &&
        `cache ${word(CacheMode, spec.cacheMode)}, launch ${word(LaunchMode, spec.launchMode)}, timing ` +
          `${word(TimingSource, spec.timingSource)}, schedule ${spec.schedule ? Schedule[spec.schedule] : 'BAB'}`,
    ],
    ['seed', spec && String(spec.seed)],
    ['submitted', time(experiment.submittedNs)],
    [
      'took',
      experiment.finishedNs > 0n && experiment.startedNs > 0n
        ? micros(experiment.finishedNs - experiment.startedNs)
        : undefined,
    ],
    ['message', experiment.message],
  ];
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}

function Progress({ experiment }: { experiment: Experiment }) {
  const done = (experiment.numFinished + experiment.progress) / Math.max(experiment.numConfigurations, 1);
  return (
    <p role="status">
      {experiment.state === TaskState.QUEUED ? (
        <>queued, place {experiment.queuePosition}</>
      ) : (
        <>
          <progress value={Math.min(done, 1)} max={1} aria-label="Progress" /> {experiment.numFinished} of{' '}
          {experiment.numConfigurations} configurations
        </>
      )}
      {experiment.estimateNs > 0n && <>, about {micros(experiment.estimateNs)} left</>}
    </p>
  );
}

function Receipt({ id }: { id: bigint }) {
  const [asked, setAsked] = useState(false);
  const data = useData(
    (signal) =>
      asked
        ? call('Receipt', ReceiptResponseSchema, { experiment_ids: String(id) }, signal)
        : Promise.resolve(undefined),
    [asked, id],
  );
  if (!asked) {
    return (
      <button type="button" onClick={() => setAsked(true)}>
        Show the receipt
      </button>
    );
  }
  return (
    <Loaded data={data}>
      {(answer) =>
        answer ? (
          <>
            <p>
              <Copy text={answer.markdown} label="Copy the Markdown" />
            </p>
            <pre tabIndex={0}>{answer.markdown}</pre>
          </>
        ) : null
      }
    </Loaded>
  );
}

function Results({ experiment, query }: { experiment: Experiment; query: URLSearchParams }) {
  const kind = experiment.spec?.kind;
  const isOver = experiment.state > TaskState.RUNNING;
  const chosen = Number(query.get('configuration') ?? 0);
  if (kind === ExperimentKind.SWEEP) {
    return (
      <p>
        <A href={`/sweeps/${experiment.experimentId}`}>The sweep: winner, ties, heat map</A>
      </p>
    );
  }
  if (experiment.configurations.length === 0) {
    return (
      <Empty>
        {isOver ? 'Nothing was finished.' : 'Nothing is finished yet.'}
        {experiment.numFinished > 0 && (
          <>
            {' '}
            Its {count(experiment.numFinished)} configurations are more than fit here:{' '}
            <Command text={`assay show ${experiment.experimentId}`} />
          </>
        )}
      </Empty>
    );
  }
  if (kind === ExperimentKind.CHECK) return <ChecksTable experiment={experiment} />;
  if (kind === ExperimentKind.BENCH) {
    return (
      <Table
        caption="Ceilings of the device"
        rows={experiment.configurations[0]?.ceilings ?? []}
        columns={[
          { key: 'name', title: 'ceiling', cell: (row) => row.name, sort: (row) => row.name },
          { key: 'value', title: 'value', numeric: true, cell: (row) => row.value.toPrecision(4), sort: (row) => row.value },
          { key: 'unit', title: 'unit', cell: (row) => row.unit },
          { key: 'help', title: 'what it is', cell: (row) => row.help },
        ]}
      />
    );
  }
  return (
    <>
      <Section title="Arms, stage by stage">
        <StagesTable
          experiment={experiment}
          onChoose={(configuration) => setQuery({ configuration: String(configuration) })}
        />
      </Section>
      {chosen > 0 && <ConfigurationDetail experiment={experiment} configuration={chosen} />}
      <Section title="Roofline">
        <Roofline experiment={experiment} />
      </Section>
    </>
  );
}

export default function View({ params, query }: ViewProps) {
  const id = /^\d+$/.test(params.id ?? '') ? params.id : undefined;
  const data = useData(
    (signal) =>
      id
        ? call('Get', ExperimentSchema, { experiment_id: id }, signal)
        : Promise.reject(new Error('The number of an experiment is a whole number.')),
    [id],
  );
  const [live, setLive] = useState<Experiment>();
  const stored = data.state === 'ready' ? data.value : undefined;
  const isLive = stored !== undefined && stored.state <= TaskState.RUNNING;
  useEffect(() => {
    setLive(undefined);
    if (!stored || !isLive) return undefined;
    return watch(stored.experimentId, setLive, () => data.state === 'ready' && data.reload());
  }, [stored?.experimentId, isLive]);
  return (
    <Page title={`Experiment ${params.id ?? ''}`}>
      <Loaded data={data}>
        {(first) => {
          const experiment = live ?? first;
          return (
            <>
              <p>
                {kindOf(experiment)} {experiment.spec?.operatorName} <StateChip state={experiment.state} />{' '}
                <VerdictChip kind={experiment.worstVerdict} />
              </p>
              {experiment.state <= TaskState.RUNNING && <Progress experiment={experiment} />}
              <Facts experiment={experiment} />
              <Results experiment={experiment} query={query} />
              {experiment.state > TaskState.RUNNING && (
                <Section title="Receipt">
                  <Receipt id={experiment.experimentId} />
                </Section>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}
