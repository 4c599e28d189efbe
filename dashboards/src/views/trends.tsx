// Times of one arm over runs: levels, where they change, and what else happened there.
import { ListSeriesResponseSchema, TrendResponseSchema, type Series } from '../../generated/proto/assay_pb';
import { call } from '../api';
import { Loaded, useData } from '../data';
import { count } from '../format';
import { A, Command, Empty, Page, Section, Table } from '../parts';
import { Older, Same } from '../parts/lists';
import { navigate, setQuery } from '../router';
import { spaced, tellApart } from '../workloads';
import { TrendPanel } from './trend_panel';

interface Props {
  params: Record<string, string>;
  query: URLSearchParams;
}

const filters = ['operator', 'variant', 'device'] as const;

function SeriesPicker({ query }: { query: URLSearchParams }) {
  const values = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? '']));
  const page = query.get('page_token') ?? '';
  const data = useData(
    (signal) =>
      call(
        'ListSeries',
        ListSeriesResponseSchema,
        { operator_name: values.operator, variant: values.variant, device: values.device, page_size: 200, page_token: page },
        signal,
      ),
    [values.operator, values.variant, values.device, page],
  );
  const link = (series: Series) => `/trends?series=${series.seriesId}`;
  return (
    <>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget as HTMLFormElement);
          setQuery({ ...Object.fromEntries(filters.map((name) => [name, String(form.get(name) ?? '')])), page_token: undefined });
        }}
      >
        {filters.map((name) => (
          <label key={name}>
            {name}
            <input name={name} defaultValue={values[name]} placeholder={name === 'variant' ? 'any, or best' : 'any'} />
          </label>
        ))}
        <button type="submit">Show</button>
      </form>
      <Loaded data={data}>
        {(answer) => {
          const apart = tellApart(answer.series);
          return (
            <>
              <Same lines={apart.same} />
              <Table
                caption="Series, the most recently measured first"
                rows={answer.series}
                columns={[
                  { key: 'operator', title: 'operator', cell: (row) => row.operatorName, sort: (row) => row.operatorName },
                  { key: 'workload', title: 'workload', cell: (row) => <A href={link(row)}>{apart.short(row) || row.workload}</A>, sort: (row) => row.workload },
                  { key: 'arm', title: 'arm', cell: (row) => spaced(row.arm || row.variant), sort: (row) => row.arm || row.variant },
                  { key: 'device', title: 'device', cell: (row) => row.deviceModel, sort: (row) => row.deviceModel },
                  {
                    key: 'points',
                    title: 'runs',
                    numeric: true,
                    cell: (row) => count(row.numPoints),
                    sort: (row) => row.numPoints,
                  },
                  {
                    key: 'newest',
                    title: 'newest',
                    numeric: true,
                    cell: (row) => <A href={`/experiments/${row.newestExperimentId}`}>{String(row.newestExperimentId)}</A>,
                    sort: (row) => row.newestExperimentId,
                  },
                ]}
                empty={
                  <Empty>
                    No series yet: every <Command text="assay compare" /> and <Command text="assay measure" /> adds a run to
                    the series of its arms.
                  </Empty>
                }
              />
              <Older token={answer.nextPageToken} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function Trends({ query }: { query: URLSearchParams }) {
  const series = query.get('series');
  const order = query.get('order') ?? 'BY_TIME';
  const request = series
    ? { series_id: series, order }
    : {
        operator_name: query.get('of') ?? '',
        variant: query.get('variant') ?? '',
        arm: query.get('arm') ?? '',
        stage: query.get('stage') ?? '',
        device: query.get('device') ?? '',
        axes: query.getAll('axis'),
        order,
      };
  const data = useData((signal) => call('Trend', TrendResponseSchema, request, signal), [query.toString()]);
  return (
    <>
      <p class="actions">
        <A href="/trends">All series</A>
        <label>
          order{' '}
          <select value={order} onChange={(event) => setQuery({ order: event.currentTarget.value })}>
            <option value="BY_TIME">by time</option>
            <option value="BY_COMMIT">by commit</option>
          </select>
        </label>
      </p>
      <Loaded data={data}>
        {(answer) =>
          answer.trends.length === 0 ? (
            <Empty>Nothing was measured for this series.</Empty>
          ) : (
            <div class={answer.trends.length > 1 ? 'side-by-side' : ''}>
              {answer.trends.map((trend) => (
                <TrendPanel
                  key={String(trend.series?.seriesId ?? trend.series?.deviceUuid)}
                  trend={trend}
                  onPoint={(id) => navigate(`/experiments/${id}`)}
                />
              ))}
            </div>
          )
        }
      </Loaded>
    </>
  );
}

export default function View({ query }: Props) {
  const isChosen = query.has('series') || query.has('of');
  return (
    <Page
      title="Trends"
      intro="One arm on one workload in one mode on one device, run after run. Devices are never joined into one line."
    >
      {isChosen ? (
        <Trends query={query} />
      ) : (
        <Section title="Series">
          <SeriesPicker query={query} />
        </Section>
      )}
    </Page>
  );
}

