// The chart of one series: medians with their quartiles, a level with its noise for each segment.
import { SeriesEventKind, type Trend } from '../../generated/proto/assay_pb';
import type { EChartsOption } from '../charts/chart';
import { palette, type Palette } from '../charts/colors';
import { unitFor, type Unit } from '../charts/unit';
import { micros, ratio, time } from '../format';
import { theme } from '../theme';

// What a mark beside the line stands for.
const words: Record<number, string> = {
  [SeriesEventKind.BITS_CHANGED]: 'bits',
  [SeriesEventKind.BITS_ACCEPTED]: 'epoch',
  [SeriesEventKind.CODE_CHANGED]: 'code',
  [SeriesEventKind.RESOURCES_CHANGED]: 'registers',
  [SeriesEventKind.ENVIRONMENT_CHANGED]: 'driver',
};

// Runs from which the chart needs a slider to be read.
const many = 80;

// The events of a run share one mark; marks that are close stand at different heights.
function marksOf(trend: Trend, colors: Palette, unit: Unit) {
  const runs = new Map<number, string[]>();
  for (const { kind, point } of trend.events) {
    const word = words[kind];
    if (word) runs.set(point, [...new Set([...(runs.get(point) ?? []), word])]);
  }
  const near = Math.max(2, trend.points.length / 20);
  let last = Number.NEGATIVE_INFINITY;
  let height = 0;
  return [...runs]
    .sort(([a], [b]) => a - b)
    .map(([point, all]) => {
      height = point - last < near ? (height + 1) % 3 : 0;
      last = point;
      return {
        coord: [point, unit.of(trend.points[point]?.medianNs ?? 0n)],
        itemStyle: { color: all.includes('bits') ? colors.series[4] : colors.series[3] },
        label: { formatter: all.join(', '), distance: 8 + 14 * height },
      };
    });
}

export function trendOption(trend: Trend): EChartsOption {
  const colors = palette(theme());
  const unit = unitFor(Math.max(0, ...trend.points.map((point) => Number(point.medianNs))));
  const labels = trend.points.map((point) => String(point.experimentId));
  const bands = trend.segments.map((segment) => {
    const level = unit.of(segment.levelNs);
    return [
      { xAxis: segment.first, yAxis: level * (1 - segment.noise) },
      { xAxis: segment.last, yAxis: level * (1 + segment.noise) },
    ];
  });
  const levels = trend.segments.map((segment) => [
    { coord: [segment.first, unit.of(segment.levelNs)] },
    { coord: [segment.last, unit.of(segment.levelNs)] },
  ]);
  const changes = trend.changePoints.map((change) => ({
    xAxis: change.first,
    lineStyle: { color: colors.baseline },
    label: { formatter: `${change.pending ? '?' : '×'}${ratio(change.ratio)}` },
  }));
  const tooltip = (index: number) => {
    const point = trend.points[index];
    if (!point) return '';
    const commit = point.commit ? `\ncommit ${point.commit.slice(0, 10)}${point.dirty ? ' (dirty)' : ''}` : '';
    return (
      `experiment ${point.experimentId}, ${time(point.measuredNs)}\nmedian ${micros(point.medianNs)}, quartiles ` +
      `${micros(point.lowerQuartileNs)} to ${micros(point.upperQuartileNs)}${commit}${point.rejected ? '\nrejected' : ''}`
    );
  };
  return {
    grid: { left: 64, right: 24, top: 36, bottom: trend.points.length > many ? 72 : 44 },
    tooltip: {
      trigger: 'axis',
      renderMode: 'richText',
      formatter: (items: unknown) => tooltip((items as { dataIndex: number }[])[0]?.dataIndex ?? -1),
    },
    xAxis: { type: 'category', data: labels, name: 'experiment', nameLocation: 'middle', nameGap: 26 },
    // Above the highest point there is room for the words of its marks.
    yAxis: { type: 'value', name: unit.name, scale: true, boundaryGap: ['5%', '20%'] },
    dataZoom: trend.points.length > many ? [{ type: 'inside' }, { type: 'slider', height: 18, bottom: 8 }] : [],
    series: [
      {
        name: 'lower quartile',
        type: 'line',
        stack: 'quartiles',
        symbol: 'none',
        silent: true,
        lineStyle: { opacity: 0 },
        data: trend.points.map((point) => unit.of(point.lowerQuartileNs)),
      },
      {
        name: 'quartiles',
        type: 'line',
        stack: 'quartiles',
        symbol: 'none',
        silent: true,
        lineStyle: { opacity: 0 },
        areaStyle: { color: colors.candidate, opacity: 0.18 },
        data: trend.points.map((point) => unit.of(point.upperQuartileNs) - unit.of(point.lowerQuartileNs)),
      },
      {
        name: 'median',
        type: 'line',
        symbolSize: 7,
        cursor: 'pointer',
        color: colors.candidate,
        data: trend.points.map((point) => ({
          value: unit.of(point.medianNs),
          symbol: point.rejected ? 'triangle' : 'circle',
        })),
        markArea: { silent: true, itemStyle: { color: colors.quiet, opacity: 0.16 }, data: bands as never },
        markLine: {
          silent: true,
          symbol: 'none',
          label: { color: colors.text },
          data: [
            ...levels.map((pair) => pair.map((end) => ({ ...end, lineStyle: { type: 'solid', width: 2, color: colors.quiet } }))),
            ...changes,
          ] as never,
        },
        markPoint: {
          silent: true,
          symbol: 'diamond',
          symbolSize: 10,
          label: { position: 'top', fontSize: 11, color: colors.text },
          data: marksOf(trend, colors, unit) as never,
        },
      },
    ],
  };
}
