// What became slower, and what is known about it.
import { ListRegressionsResponseSchema, RegressionState } from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Loaded, useData } from '../data';
import { micros, ratio, time } from '../format';
import { A, Command, Empty, Page, Table, Tag } from '../parts';
import { Older } from '../parts/lists';
import { setQuery } from '../router';
import { spaced } from '../workloads';

const words: Record<number, { text: string; tone?: 'bad' | 'good' | 'warn' }> = {
  [RegressionState.DETECTED]: { text: 'detected', tone: 'warn' },
  [RegressionState.CONFIRMED]: { text: 'confirmed', tone: 'bad' },
  [RegressionState.UNCONFIRMABLE]: { text: 'unconfirmable', tone: 'warn' },
  [RegressionState.REFUTED]: { text: 'refuted' },
  [RegressionState.ACKNOWLEDGED]: { text: 'acknowledged' },
  [RegressionState.FIXED]: { text: 'fixed', tone: 'good' },
};

export default function View({ query }: { params: Record<string, string>; query: URLSearchParams }) {
  const all = query.get('all') === 'true';
  const page = query.get('page_token') ?? '';
  const data = useData(
    (signal) =>
      call('ListRegressions', ListRegressionsResponseSchema, { only_open: !all, page_size: 100, page_token: page }, signal),
    [all, page],
  );
  return (
    <Page
      title="Regressions"
      intro="A detected one is run again on its device when that is idle, with the code of that run, before anybody is told."
    >
      <p class="actions">
        <label class="check">
          <input
            type="checkbox"
            checked={all}
            onChange={(event) => setQuery({ all: event.currentTarget.checked ? 'true' : undefined, page_token: undefined })}
          />
          also refuted, acknowledged and fixed ones
        </label>
      </p>
      <Loaded data={data}>
        {(answer) => (
          <>
            <Table
              caption="Regressions, newest first"
              rows={answer.regressions}
              columns={[
                {
                  key: 'state',
                  title: 'state',
                  cell: (row) => <Tag tone={words[row.state]?.tone}>{words[row.state]?.text ?? 'unknown'}</Tag>,
                  sort: (row) => row.state,
                },
                {
                  key: 'what',
                  title: 'series',
                  cell: (row) => (
                    <A href={`/trends?series=${row.series?.seriesId ?? 0n}`}>
                      {row.series?.operatorName} {spaced(row.series?.arm || row.series?.variant)}
                    </A>
                  ),
                },
                { key: 'workload', title: 'workload', cell: (row) => spaced(row.series?.workload) },
                { key: 'device', title: 'device', cell: (row) => row.series?.deviceModel },
                {
                  key: 'times',
                  title: 'before → after',
                  numeric: true,
                  cell: (row) => `${micros(row.beforeNs)} → ${micros(row.afterNs)}`,
                },
                { key: 'ratio', title: 'after / before', numeric: true, cell: (row) => `${ratio(row.ratio)} [${ratio(row.ratioLow)}, ${ratio(row.ratioHigh)}]`, sort: (row) => row.ratio },
                {
                  key: 'experiments',
                  title: 'between',
                  cell: (row) => (
                    <>
                      <A href={`/experiments/${row.previousExperimentId}`}>{String(row.previousExperimentId)}</A>
                      {row.previousCommit && <code> {row.previousCommit.slice(0, 8)}</code>} and{' '}
                      <A href={`/experiments/${row.experimentId}`}>{String(row.experimentId)}</A>
                      {row.commit && <code> {row.commit.slice(0, 8)}</code>}
                    </>
                  ),
                },
                { key: 'when', title: 'detected', cell: (row) => <span class="line">{time(row.detectedNs)}</span>, sort: (row) => row.detectedNs },
                { key: 'why', title: 'reason', cell: (row) => row.acknowledgedReason || row.reason },
              ]}
              empty={
                <Empty>
                  {all ? 'No regression was ever found.' : 'No regression is open.'} They are looked for in every series
                  with at least six runs: see <A href="/trends">trends</A>, or <Command text="assay regressions" />.
                </Empty>
              }
            />
            <Older token={answer.nextPageToken} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
