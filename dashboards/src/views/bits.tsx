// Which bits tensors had, since when, and which of them were accepted.
import { BitHistoryResponseSchema } from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Loaded, useData } from '../data';
import { count, time } from '../format';
import { A, Command, Empty, Page, Table, Tag } from '../parts';
import { Older, Same } from '../parts/lists';
import { setQuery } from '../router';
import { tellApart } from '../workloads';

const filters = ['operator_name', 'workload', 'tensor', 'device', 'digest'] as const;
const titles: Record<string, string> = { operator_name: 'operator', workload: 'workload begins', digest: 'digest begins' };

export default function View({ query }: { params: Record<string, string>; query: URLSearchParams }) {
  const request = Object.fromEntries([...filters, 'page_token'].map((name) => [name, query.get(name) ?? '']));
  const data = useData(
    (signal) => call('BitHistory', BitHistoryResponseSchema, { ...request, page_size: 100 }, signal),
    [query.toString()],
  );
  return (
    <Page title="Bit history" intro="Every digest that a tensor had on a device, the newest first.">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget as HTMLFormElement);
          const values = filters.map((name) => [name, String(form.get(name) ?? '') || undefined]);
          setQuery({ ...Object.fromEntries(values), page_token: undefined });
        }}
      >
        {filters.map((name) => (
          <label key={name}>
            {titles[name] ?? name}
            <input name={name} defaultValue={request[name]} placeholder="any" />
          </label>
        ))}
        <button type="submit">Show</button>
      </form>
      <Loaded data={data}>
        {(answer) => {
          const apart = tellApart(answer.entries);
          return (
            <>
              <Same lines={apart.same} />
              <Table
                caption="Digests"
                rows={answer.entries}
                columns={[
                  { key: 'operator', title: 'operator', cell: (row) => row.operatorName, sort: (row) => row.operatorName },
                  { key: 'workload', title: 'workload', cell: (row) => apart.short(row) || row.workload, sort: (row) => row.workload },
                  { key: 'tensor', title: 'tensor', cell: (row) => row.tensor, sort: (row) => row.tensor },
                  { key: 'device', title: 'device', cell: (row) => row.deviceModel, sort: (row) => row.deviceModel },
                  { key: 'digest', title: 'digest', cell: (row) => <code class="line" title={row.digest}>{row.digest.slice(0, 12)}</code> },
                  { key: 'family', title: 'family', cell: (row) => row.family },
                  {
                    key: 'first',
                    title: 'first seen',
                    cell: (row) => (
                      <>
                        <A href={`/experiments/${row.firstExperimentId}`}>{String(row.firstExperimentId)}</A>{' '}
                        <span class="line">{time(row.firstNs)}</span>{' '}
                        {row.firstCommit && <code class="line">{row.firstCommit.slice(0, 8)}</code>}
                      </>
                    ),
                    sort: (row) => row.firstNs,
                  },
                  {
                    key: 'last',
                    title: 'last seen',
                    cell: (row) => <A href={`/experiments/${row.lastExperimentId}`}>{String(row.lastExperimentId)}</A>,
                    sort: (row) => row.lastNs,
                  },
                  {
                    key: 'num',
                    title: 'times',
                    numeric: true,
                    cell: (row) => count(row.numMeasurements),
                    sort: (row) => row.numMeasurements,
                  },
                  { key: 'variants', title: 'variants', cell: (row) => row.variants.join(', ') },
                  {
                    key: 'epoch',
                    title: 'accepted',
                    cell: (row) => (
                      <>
                        {row.isGolden ? (
                          <Tag tone="good">golden{row.epoch > 0n ? `, epoch ${row.epoch}` : ''}</Tag>
                        ) : (
                          row.epoch > 0n && <Tag>epoch {String(row.epoch)}, replaced</Tag>
                        )}
                        {row.reason && <span class="below quiet">{row.reason}</span>}
                      </>
                    ),
                  },
                ]}
                empty={
                  <Empty>
                    No digest like that is stored. <Command text="assay compare" /> and <Command text="assay check" /> store
                    them; <Command text="assay bits accept last --reason TEXT" /> makes them the accepted ones.
                  </Empty>
                }
              />
              <Older token={answer.nextPageToken} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}
