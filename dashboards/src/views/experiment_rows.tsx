// Experiments as rows, for every view that lists some.
import { ExperimentKind, TaskState, VerdictKind, type Experiment } from '../../generated/proto/assay_pb';
import { arm, duration, time } from '../format';
import { A, StateChip, Table, VerdictChip } from '../parts';
import type { ComponentChildren } from 'preact';

export function armsOf(experiment: Experiment): string {
  const spec = experiment.spec;
  const candidates = (spec?.candidates ?? []).map(arm);
  return spec?.baseline ? [arm(spec.baseline), ...candidates].join(' against ') : '';
}

export const kindOf = (experiment: Experiment) =>
  (ExperimentKind[experiment.spec?.kind ?? 0] ?? 'unknown').toLowerCase();

// Losing to another configuration is no verdict on a sweep.
export function verdictOf({ spec, worstVerdict }: Experiment): VerdictKind {
  const isStep = spec?.kind === ExperimentKind.SWEEP && worstVerdict !== VerdictKind.REJECTED;
  return isStep || worstVerdict === VerdictKind.NOT_JUDGED ? VerdictKind.VERDICT_KIND_UNSPECIFIED : worstVerdict;
}

function CommitOf({ experiment }: { experiment: Experiment }) {
  const context = experiment.spec?.context;
  if (!context?.commit) return null;
  return (
    <span class="line" title={`${context.commit}${context.branch && ` on ${context.branch}`}${context.dirty ? ', with changes' : ''}`}>
      <code>{context.commit.slice(0, 8)}</code>
      {context.dirty && '+'}
    </span>
  );
}

export function Progress({ experiment }: { experiment: Experiment }) {
  const total = Math.max(experiment.numConfigurations, 1);
  const done = Math.min((experiment.numFinished + experiment.progress) / total, 1);
  return (
    <>
      {experiment.state === TaskState.QUEUED ? (
        `queued, place ${experiment.queuePosition}`
      ) : (
        <>
          <progress value={done} max={1} aria-label={`Progress of experiment ${experiment.experimentId}`} />{' '}
          {experiment.numFinished} of {experiment.numConfigurations}
        </>
      )}
      {experiment.estimateNs > 0n && <span class="quiet">, about {duration(experiment.estimateNs)} left</span>}
      {experiment.message && <span class="quiet">, {experiment.message}</span>}
    </>
  );
}

interface Props {
  caption: string;
  rows: Experiment[];
  empty: ComponentChildren;
}

export function Experiments({ caption, rows, empty }: Props) {
  return (
    <Table
      caption={caption}
      rows={rows}
      empty={empty}
      columns={[
        {
          key: 'id',
          title: 'number',
          numeric: true,
          cell: (row) => <A href={`/experiments/${row.experimentId}`}>{String(row.experimentId)}</A>,
          sort: (row) => row.experimentId,
        },
        { key: 'state', title: 'state', cell: (row) => <StateChip state={row.state} />, sort: (row) => row.state },
        {
          key: 'verdict',
          title: 'worst verdict',
          cell: (row) => <VerdictChip kind={verdictOf(row)} />,
          sort: verdictOf,
        },
        { key: 'kind', title: 'kind', cell: kindOf, sort: kindOf },
        {
          key: 'operator',
          title: 'operator',
          cell: (row) => row.spec?.operatorName,
          sort: (row) => row.spec?.operatorName ?? '',
        },
        { key: 'arms', title: 'arms', cell: (row) => <span class="wide">{armsOf(row)}</span> },
        {
          key: 'device',
          title: 'device',
          cell: (row) => <span class="clip" title={row.device?.model}>{row.device?.model || row.spec?.device}</span>,
          sort: (row) => row.device?.model ?? '',
        },
        { key: 'commit', title: 'commit', cell: (row) => <CommitOf experiment={row} /> },
        {
          key: 'num',
          title: 'done',
          numeric: true,
          cell: (row) => `${row.numFinished} of ${row.numConfigurations}`,
          sort: (row) => row.numFinished,
        },
        { key: 'time', title: 'submitted', cell: (row) => <span class="line">{time(row.submittedNs)}</span>, sort: (row) => row.submittedNs },
      ]}
    />
  );
}
