// Experiments as rows, for every view that lists some.
import { ExperimentKind, type Experiment } from '../../generated/proto/assay_pb';
import { arm, time } from '../format';
import { A, StateChip, Table, VerdictChip } from '../parts';
import type { ComponentChildren } from 'preact';

export function armsOf(experiment: Experiment): string {
  const spec = experiment.spec;
  const candidates = (spec?.candidates ?? []).map(arm);
  return spec?.baseline ? [arm(spec.baseline), ...candidates].join(' against ') : '';
}

export const kindOf = (experiment: Experiment) =>
  (ExperimentKind[experiment.spec?.kind ?? 0] ?? 'unknown').toLowerCase();

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
        { key: 'kind', title: 'kind', cell: kindOf, sort: kindOf },
        {
          key: 'operator',
          title: 'operator',
          cell: (row) => row.spec?.operatorName,
          sort: (row) => row.spec?.operatorName ?? '',
        },
        { key: 'arms', title: 'arms', cell: armsOf },
        {
          key: 'device',
          title: 'device',
          cell: (row) => row.device?.model || row.spec?.device,
          sort: (row) => row.device?.model ?? '',
        },
        { key: 'commit', title: 'commit', cell: (row) => row.spec?.context?.commit.slice(0, 10) },
        { key: 'state', title: 'state', cell: (row) => <StateChip state={row.state} />, sort: (row) => row.state },
        {
          key: 'verdict',
          title: 'worst verdict',
          cell: (row) => <VerdictChip kind={row.worstVerdict} />,
          sort: (row) => row.worstVerdict,
        },
        {
          key: 'num',
          title: 'done',
          numeric: true,
          cell: (row) => `${row.numFinished} of ${row.numConfigurations}`,
          sort: (row) => row.numFinished,
        },
        { key: 'time', title: 'submitted', cell: (row) => time(row.submittedNs), sort: (row) => row.submittedNs },
      ]}
    />
  );
}
