// One series: the line, its changes and its events.
import { SeriesEventKind, type Trend } from '../../generated/proto/assay_pb';
import { Chart } from '../charts/chart';
import { micros, percent, ratio, shortDigest, time } from '../format';
import { A, Empty, Section, Table, Tag } from '../parts';
import { spaced } from '../workloads';
import { trendOption } from './trend_option';

export const eventNames: Record<number, string> = {
  [SeriesEventKind.TIME_CHANGED]: 'time',
  [SeriesEventKind.BITS_CHANGED]: 'bits',
  [SeriesEventKind.CODE_CHANGED]: 'code',
  [SeriesEventKind.RESOURCES_CHANGED]: 'resources',
  [SeriesEventKind.BITS_ACCEPTED]: 'bits accepted',
  [SeriesEventKind.ENVIRONMENT_CHANGED]: 'environment',
};

function Points({ trend }: { trend: Trend }) {
  return (
    <Table
      caption="Runs"
      rows={trend.points}
      columns={[
        {
          key: 'experiment',
          title: 'experiment',
          numeric: true,
          cell: (row) => <A href={`/experiments/${row.experimentId}`}>{String(row.experimentId)}</A>,
          sort: (row) => row.experimentId,
        },
        { key: 'time', title: 'measured', cell: (row) => time(row.measuredNs), sort: (row) => row.measuredNs },
        { key: 'median', title: 'median', numeric: true, cell: (row) => micros(row.medianNs), sort: (row) => row.medianNs },
        {
          key: 'quartiles',
          title: 'quartiles',
          numeric: true,
          cell: (row) => `${micros(row.lowerQuartileNs)} to ${micros(row.upperQuartileNs)}`,
        },
        { key: 'commit', title: 'commit', cell: (row) => row.commit.slice(0, 10) + (row.dirty ? ' (dirty)' : '') },
        { key: 'bits', title: 'bits', cell: (row) => shortDigest(row.bitsDigest) },
        { key: 'code', title: 'code', cell: (row) => shortDigest(row.codeDigest) },
        { key: 'registers', title: 'registers', numeric: true, cell: (row) => row.numRegisters || '–' },
        { key: 'rejected', title: '', cell: (row) => (row.rejected ? <Tag tone="bad">rejected</Tag> : '') },
      ]}
    />
  );
}

export function TrendPanel({ trend, onPoint }: { trend: Trend; onPoint: (experiment: bigint) => void }) {
  const series = trend.series;
  const title = `${series?.operatorName} ${spaced(series?.arm || series?.variant)}`;
  return (
    <Section title={`${title} on ${series?.deviceModel || series?.deviceUuid}`}>
      <p class="quiet">
        {spaced(series?.workload)}; stage {series?.stage}
        {trend.noise > 0 && <>, noise {percent(trend.noise)} of the level</>}
      </p>
      {trend.points.length === 0 ? (
        <Empty>No run of this order: only runs that name a commit are ordered by commit.</Empty>
      ) : (
        <Chart
          label={`Median time of ${title}, run after run`}
          option={trendOption(trend)}
          height={380}
          onClick={(point: { dataIndex?: number; seriesName?: string }) => {
            const run = trend.points[point.dataIndex ?? -1];
            if (run && point.seriesName === 'median') onPoint(run.experimentId);
          }}
          table={<Points trend={trend} />}
        />
      )}
      {trend.points.length > 0 && (
        <p class="quiet">
          Around the line the quartiles of a run. Grey: a level and its noise. A dashed line: the level changes, new / old. Marks:
          other bits or code, an accepted epoch, more or fewer registers, another driver or toolkit. A triangle: rejected.
        </p>
      )}
      {trend.missing && <p class="quiet">No levels: {trend.missing}.</p>}
      {trend.changePoints.length > 0 && (
        <Table
          caption="Changes of the level"
          rows={trend.changePoints}
          columns={[
            {
              key: 'from',
              title: 'from experiment',
              cell: (row) => {
                const id = trend.points[row.first]?.experimentId;
                return <A href={`/experiments/${id}`}>{String(id)}</A>;
              },
            },
            {
              key: 'ratio',
              title: 'new / old',
              numeric: true,
              cell: (row) => ratio(row.ratio),
              sort: (row) => row.ratio,
            },
            {
              key: 'interval',
              title: 'interval',
              numeric: true,
              cell: (row) => (row.ratioLow > 0 ? `[${ratio(row.ratioLow)}, ${ratio(row.ratioHigh)}]` : '–'),
            },
            {
              key: 'what',
              title: '',
              cell: (row) =>
                row.pending ? (
                  <Tag>too few runs to be sure</Tag>
                ) : row.ratio > 1 ? (
                  <Tag tone="bad">slower</Tag>
                ) : (
                  <Tag tone="good">faster</Tag>
                ),
            },
          ]}
        />
      )}
      {trend.events.length > 0 && (
        <Table
          caption="What else changed"
          rows={trend.events}
          columns={[
            {
              key: 'experiment',
              title: 'experiment',
              numeric: true,
              cell: (row) => <A href={`/experiments/${row.experimentId}`}>{String(row.experimentId)}</A>,
              sort: (row) => row.experimentId,
            },
            { key: 'kind', title: 'what', cell: (row) => <Tag>{eventNames[row.kind] ?? 'other'}</Tag> },
            { key: 'detail', title: 'detail', cell: (row) => row.detail },
          ]}
        />
      )}
    </Section>
  );
}
