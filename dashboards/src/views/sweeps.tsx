// Sweeps, and the launch parameters that they found best.
import { ListResponseSchema, ListTuningsResponseSchema } from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Loaded, useData } from '../data';
import { arm, micros, percent, ratio, time } from '../format';
import { A, Command, Empty, Page, Section, StateChip, Table, Tag } from '../parts';
import { Older } from '../parts/lists';
import type { ViewProps } from '../router';
import { spaced } from '../workloads';

export default function View({ query }: ViewProps) {
  const page = query.get('page_token') ?? '';
  const sweeps = useData(
    (signal) => call('List', ListResponseSchema, { kind: 'SWEEP', page_size: 25, page_token: page }, signal),
    [page],
  );
  const tunings = useData((signal) => call('ListTunings', ListTuningsResponseSchema, {}, signal), []);
  return (
    <Page title="Sweeps" intro="Every launch parameter against the best so far, bits first.">
      <Section title="Sweeps">
        <Loaded data={sweeps}>
          {(answer) => (
            <>
              <Table
                caption="The newest first"
                rows={answer.experiments}
                columns={[
                  {
                    key: 'id',
                    title: 'number',
                    numeric: true,
                    cell: (row) => <A href={`/sweeps/${row.experimentId}`}>{String(row.experimentId)}</A>,
                    sort: (row) => row.experimentId,
                  },
                  { key: 'operator', title: 'operator', cell: (row) => row.spec?.operatorName },
                  { key: 'variant', title: 'variant', cell: (row) => row.spec?.candidates[0]?.variant },
                  { key: 'strategy', title: 'strategy', cell: (row) => row.spec?.sweep?.strategy || 'exhaustive' },
                  { key: 'device', title: 'device', cell: (row) => row.device?.model || row.spec?.device },
                  { key: 'state', title: 'state', cell: (row) => <StateChip state={row.state} /> },
                  { key: 'num', title: 'tried', numeric: true, cell: (row) => row.numFinished, sort: (row) => row.numFinished },
                  { key: 'time', title: 'submitted', cell: (row) => time(row.submittedNs), sort: (row) => row.submittedNs },
                ]}
                empty={
                  <Empty>
                    No sweep yet: <Command text="assay sweep qsa_decode -a cells_per_step=[2,4,8]" />
                  </Empty>
                }
              />
              <Older token={answer.nextPageToken} />
            </>
          )}
        </Loaded>
      </Section>
      <Section title="Tuning table">
        <Loaded data={tunings}>
          {(answer) => (
            <Table
              caption="The newest entry of each key"
              rows={answer.tunings}
              columns={[
                { key: 'operator', title: 'operator', cell: (row) => row.operatorName, sort: (row) => row.operatorName },
                { key: 'workload', title: 'workload', cell: (row) => spaced(row.workload), sort: (row) => row.workload },
                { key: 'device', title: 'device', cell: (row) => row.deviceModel, sort: (row) => row.deviceModel },
                {
                  key: 'arm',
                  title: 'best',
                  cell: (row) => (
                    <>
                      {arm(row.arm)}
                      {row.stale && (
                        <span class="below quiet">
                          <Tag tone="warn">stale</Tag> {row.stale}
                        </span>
                      )}
                    </>
                  ),
                },
                { key: 'median', title: 'median', numeric: true, cell: (row) => micros(row.medianNs), sort: (row) => row.medianNs },
                {
                  key: 'ratio',
                  title: 'of what it began with',
                  numeric: true,
                  cell: (row) => `${ratio(row.ratio)} [${ratio(row.ratioLow)}, ${ratio(row.ratioHigh)}]`,
                  sort: (row) => row.ratio,
                },
                { key: 'noise', title: 'noise', numeric: true, cell: (row) => percent(row.noise) },
                { key: 'ties', title: 'ties', numeric: true, cell: (row) => row.ties.length },
                {
                  key: 'sweep',
                  title: 'sweep',
                  numeric: true,
                  cell: (row) => <A href={`/sweeps/${row.experimentId}`}>{String(row.experimentId)}</A>,
                },
              ]}
              empty={<Empty>Nothing is tuned yet: the end of a sweep writes here.</Empty>}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  );
}
