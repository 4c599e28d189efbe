// The chart of one series: medians with their quartiles, a level with its noise for each segment.
import { SeriesEventKind, type Trend } from '../../generated/proto/assay_pb';
import { micros, ratio, time } from '../format';
import type { EChartsOption } from '../charts/chart';

const inMicros = (ns: bigint) => Number(ns) / 1000;

// What a mark above the line stands for.
const letters: Record<number, string> = {
  [SeriesEventKind.BITS_CHANGED]: 'bits',
  [SeriesEventKind.BITS_ACCEPTED]: 'epoch',
  [SeriesEventKind.CODE_CHANGED]: 'code',
  [SeriesEventKind.RESOURCES_CHANGED]: 'regs',
  [SeriesEventKind.ENVIRONMENT_CHANGED]: 'env',
};

export function trendOption(trend: Trend): EChartsOption {
  const labels = trend.points.map((point) => String(point.experimentId));
  const bands = trend.segments.map((segment) => {
    const level = inMicros(segment.levelNs);
    return [
      { xAxis: segment.first, yAxis: level * (1 - segment.noise) },
      { xAxis: segment.last, yAxis: level * (1 + segment.noise) },
    ];
  });
  const levels = trend.segments.map((segment) => [
    { coord: [segment.first, inMicros(segment.levelNs)] },
    { coord: [segment.last, inMicros(segment.levelNs)] },
  ]);
  const changes = trend.changePoints.map((change) => ({
    xAxis: change.first,
    label: { formatter: `${change.pending ? '?' : '×'}${ratio(change.ratio)}` },
  }));
  const events = trend.events
    .filter((event) => letters[event.kind])
    .map((event) => ({ coord: [event.point, inMicros(trend.points[event.point]?.medianNs ?? 0n)], value: letters[event.kind] }));
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
    grid: { left: 64, right: 24, top: 36, bottom: 72 },
    tooltip: {
      trigger: 'axis',
      renderMode: 'richText',
      formatter: (items: unknown) => tooltip((items as { dataIndex: number }[])[0]?.dataIndex ?? -1),
    },
    xAxis: { type: 'category', data: labels, name: 'experiment', nameLocation: 'middle', nameGap: 26 },
    yAxis: { type: 'value', name: 'µs', scale: true },
    dataZoom: [{ type: 'inside' }, { type: 'slider', height: 18, bottom: 8 }],
    series: [
      {
        name: 'lower quartile',
        type: 'line',
        stack: 'quartiles',
        symbol: 'none',
        silent: true,
        lineStyle: { opacity: 0 },
        data: trend.points.map((point) => inMicros(point.lowerQuartileNs)),
      },
      {
        name: 'quartiles',
        type: 'line',
        stack: 'quartiles',
        symbol: 'none',
        silent: true,
        lineStyle: { opacity: 0 },
        areaStyle: { opacity: 0.18 },
        data: trend.points.map((point) => inMicros(point.upperQuartileNs) - inMicros(point.lowerQuartileNs)),
      },
      {
        name: 'median',
        type: 'line',
        symbolSize: 7,
        cursor: 'pointer',
        data: trend.points.map((point) => ({
          value: inMicros(point.medianNs),
          symbol: point.rejected ? 'triangle' : 'circle',
        })),
        markArea: { silent: true, itemStyle: { opacity: 0.14 }, data: bands as never },
        markLine: {
          silent: true,
          symbol: 'none',
          animation: false,
          data: [
            ...levels.map((pair) => pair.map((end) => ({ ...end, lineStyle: { type: 'solid', width: 2 } }))),
            ...changes,
          ] as never,
        },
        markPoint: {
          silent: true,
          symbol: 'pin',
          symbolSize: 44,
          label: { fontSize: 9 },
          data: events as never,
        },
      },
    ],
  };
}
