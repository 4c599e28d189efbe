// How much arithmetic calls do for each byte, how fast, and which roof is above them.
import { ExperimentKind, VerdictKind, type Experiment, type Measurement } from '../../generated/proto/assay_pb';
import { Chart, type EChartsOption } from '../charts/chart';
import { palette } from '../charts/colors';
import { arm, micros, percent, rate, settings, shared } from '../format';
import { Command, Empty, Table } from '../parts';
import { theme } from '../theme';

interface Point {
  name: string;
  isBaseline: boolean;
  workload: string;
  intensity: number; // flop a byte
  rate: number; // flop/s
  ns: number;
  share: number; // of the roof that is met first
  roof: string;
}

interface Roofs {
  read: number; // bytes/s
  peaks: { name: string; value: number }[]; // flop/s; empty: only reading bounds a call
}

function roofsOf(experiment: Experiment): Roofs | undefined {
  const ceilings = experiment.device?.ceilings ?? [];
  const read = ceilings.find((ceiling) => ceiling.name === 'read')?.value ?? 0;
  const peaks = ceilings
    .filter((ceiling) => ceiling.unit === 'flop/s' && ceiling.value > 0)
    .map(({ name, value }) => ({ name, value }));
  return read > 0 ? { read, peaks } : undefined;
}

const below = (value: number) => 10 ** Math.floor(Math.log10(value));
const above = (value: number) => 10 ** Math.ceil(Math.log10(value));

const textOf = (point: Point) =>
  `${point.name}\n${point.workload}\n${micros(point.ns)}, ${rate(point.rate, 'flop/s')}, ${percent(point.share)} of ${point.roof}`;

// As `assay show --roofline` has them, from the least that a call moves and computes. What was rejected has no speed.
function pointsOf(experiment: Experiment, roofs: Roofs): Point[] {
  const none = { name: '', value: Infinity };
  const peak = roofs.peaks.reduce((best, each) => (best === none || each.value > best.value ? each : best), none);
  const { rest } = shared(experiment.configurations.map((configuration) => configuration.workload?.axes ?? []));
  return experiment.configurations.flatMap((configuration) => {
    const verdict = configuration.verdicts.at(-1);
    if (verdict?.verdict === VerdictKind.REJECTED) return [];
    const stage = verdict?.stages.find((each) => each.stage === 'total');
    const add = (measurement: Measurement | undefined, ns: number, isBaseline: boolean): Point[] => {
      const bytes = Number(measurement?.minBytes ?? 0n);
      const flops = Number(measurement?.minFlops ?? 0n);
      if (!measurement || bytes <= 0 || flops <= 0 || ns <= 0) return [];
      const intensity = flops / bytes;
      const rate = (flops / ns) * 1e9;
      const isRead = intensity * roofs.read < peak.value;
      return [
        {
          name: arm(measurement.arm),
          isBaseline,
          workload: settings(rest(configuration.workload?.axes ?? [])),
          intensity,
          rate,
          ns,
          share: rate / Math.min(intensity * roofs.read, peak.value),
          roof: isRead ? 'read' : peak.name,
        },
      ];
    };
    return [
      ...add(configuration.baseline, Number(stage?.baselineMedianNs ?? 0n), true),
      ...add(configuration.candidate, Number(stage?.candidateMedianNs ?? 0n), false),
    ];
  });
}

function optionOf(points: Point[], roofs: Roofs, isCompared: boolean): EChartsOption {
  const colors = palette(theme());
  const knees = roofs.peaks.map((peak) => peak.value / roofs.read);
  const intensities = [...points.map((point) => point.intensity), ...knees];
  const low = below(Math.min(...intensities) / 2);
  const high = above(Math.max(...intensities) * 2);
  const roof = (value: number) =>
    [low, Math.min(value / roofs.read, high), high].map((x) => [x, Math.min(x * roofs.read, value)]);
  const roofLines =
    roofs.peaks.length > 0
      ? roofs.peaks.map(({ name, value }) => ({ name: `${name}, ${rate(value, 'flop/s')}`, value }))
      : [{ name: `read, ${rate(roofs.read, 'bytes/s')}`, value: Infinity }];
  const calls = (name: string, isBaseline: boolean, color: string, symbol: string) => ({
    name,
    type: 'scatter',
    symbol,
    symbolSize: 11,
    itemStyle: { color },
    data: points
      .filter((point) => point.isBaseline === isBaseline)
      .map((point) => ({ value: [point.intensity, point.rate], name: textOf(point) })),
  });
  return {
    grid: { left: 88, right: 24, top: 40, bottom: 48 },
    legend: { type: 'scroll', top: 0 },
    tooltip: {
      renderMode: 'richText',
      formatter: (item: unknown) => {
        const { name, seriesName } = item as { name?: string; seriesName: string };
        return name || seriesName;
      },
    },
    xAxis: { type: 'log', name: 'flop / byte', nameLocation: 'middle', nameGap: 28, min: low, max: high },
    yAxis: {
      type: 'log',
      min: below(Math.min(...points.map((point) => point.rate), low * roofs.read)),
      max: above(Math.max(...roofLines.flatMap(({ value }) => roof(value).map(([, y]) => y ?? 0)))),
      axisLabel: { formatter: (value: number) => rate(value, 'flop/s') },
    },
    series: [
      ...roofLines.map(({ name, value }, place) => ({
        name,
        type: 'line',
        symbol: 'none',
        silent: true,
        lineStyle: { type: place === 0 ? 'solid' : 'dashed', color: colors.quiet },
        itemStyle: { color: colors.quiet },
        data: roof(value),
      })),
      calls(isCompared ? 'A, the baseline' : 'measured', true, colors.baseline, 'circle'),
      ...(isCompared ? [calls('B, the candidate', false, colors.candidate, 'diamond')] : []),
    ],
  };
}

export function Roofline({ experiment }: { experiment: Experiment }) {
  const roofs = roofsOf(experiment);
  if (!roofs) {
    return (
      <Empty>
        What this device reads at most was not known when it ran.{' '}
        <Command text={`assay device bench --device ${experiment.spec?.device || 'NAME'}`} /> measures it once; what runs after
        that has a roofline.
      </Empty>
    );
  }
  const points = pointsOf(experiment, roofs);
  if (points.length === 0) {
    return (
      <Empty>
        Nothing to draw: no arm was measured and accepted whose operator says how many bytes and operations a call needs
        at least. <Command text="assay compare --counters dram,tensor" /> counts them, and{' '}
        <Command text={`assay show ${experiment.experimentId} --roofline`} /> shows what was counted.
      </Empty>
    );
  }
  return (
    <Chart
      label="Roofline: the least operations of a call for each of the least bytes, and at which rate they were done. Log scales"
      option={optionOf(points, roofs, experiment.spec?.kind !== ExperimentKind.MEASURE)}
      table={
        <Table
          caption="Calls"
          rows={points}
          columns={[
            { key: 'arm', title: 'arm', cell: (row) => row.name },
            { key: 'workload', title: 'workload', cell: (row) => row.workload },
            { key: 'intensity', title: 'flop / byte', numeric: true, cell: (row) => row.intensity.toPrecision(3) },
            { key: 'rate', title: 'rate', numeric: true, cell: (row) => rate(row.rate, 'flop/s') },
            { key: 'time', title: 'median', numeric: true, cell: (row) => micros(row.ns) },
            { key: 'share', title: 'of its roof', numeric: true, cell: (row) => percent(row.share) },
            { key: 'roof', title: 'roof', cell: (row) => row.roof },
          ]}
        />
      }
    />
  );
}
