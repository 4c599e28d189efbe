// The items of a CHECK: cases that were compared, pairs that have to agree, defects that were planted.
import { BitsCheck, type Experiment } from '../../generated/proto/assay_pb';
import { count, percent } from '../format';
import { Table, Tag } from '../parts';

export function ChecksTable({ experiment }: { experiment: Experiment }) {
  return (
    <Table
      caption="Items of the check"
      rows={experiment.configurations}
      columns={[
        { key: 'suite', title: 'suite', cell: (row) => row.check?.suite, sort: (row) => row.check?.suite ?? '' },
        { key: 'name', title: 'item', cell: (row) => row.check?.name, sort: (row) => row.check?.name ?? '' },
        {
          key: 'passed',
          title: 'result',
          cell: (row) =>
            row.check ? (
              row.check.passed ? (
                <Tag tone="good">✓ passed</Tag>
              ) : (
                <Tag tone="bad">✕ failed</Tag>
              )
            ) : (
              <Tag tone="warn">{row.message || 'not finished'}</Tag>
            ),
          sort: (row) => (row.check?.passed ? 1 : 0),
        },
        {
          key: 'cases',
          title: 'cases',
          numeric: true,
          cell: (row) => count(row.check?.numCases ?? 0n),
          sort: (row) => row.check?.numCases ?? 0n,
        },
        { key: 'differ', title: 'differ', numeric: true, cell: (row) => count(row.check?.numDiffering ?? 0n) },
        {
          key: 'by',
          title: 'rejected by',
          cell: (row) =>
            row.check?.rejectedBy ? (BitsCheck[row.check.rejectedBy] ?? '').replace('BITS_', '').toLowerCase() : '',
        },
        {
          key: 'tolerance',
          title: 'tolerance used',
          numeric: true,
          cell: (row) => (row.check && row.check.toleranceUsed > 0 ? percent(row.check.toleranceUsed) : '–'),
        },
        {
          key: 'goldens',
          title: 'goldens reproduced',
          numeric: true,
          cell: (row) =>
            row.check
              ? `${row.check.numGoldensReproduced} of ${
                  row.check.numGoldensReproduced + row.check.numGoldensMissing + row.check.numGoldensDiffering
                }`
              : '',
        },
        { key: 'summary', title: 'what', cell: (row) => row.check?.detail || row.check?.summary },
        { key: 'not_run', title: 'not run', cell: (row) => row.check?.notRun },
      ]}
    />
  );
}
