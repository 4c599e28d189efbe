// How much arithmetic calls do for each byte, how fast, and which roof is above them.
import { type Experiment, type Measurement } from '../../generated/proto/assay_pb';
import { Chart, type EChartsOption } from '../charts/chart';
import { arm, micros, percent, settings } from '../format';
import { Command, Empty, Table } from '../parts';

interface Point {
  name: string;
  workload: string;
  intensity: number; // flop a byte
  rate: number; // flop/s
  ns: number;
  share: number; // of the roof that is met first
  roof: string;
}

interface Roofs {
  read: number; // bytes/s
  peaks: { name: string; value: number }[]; // flop/s
}

function roofsOf(experiment: Experiment): Roofs | undefined {
  const ceilings = experiment.device?.ceilings ?? [];
  const read = ceilings.find((ceiling) => ceiling.name === 'read')?.value ?? 0;
  const peaks = ceilings
    .filter((ceiling) => ceiling.unit === 'flop/s' && ceiling.value > 0)
    .map(({ name, value }) => ({ name, value }));
  return read > 0 && peaks.length > 0 ? { read, peaks } : undefined;
}

function pointsOf(experiment: Experiment, roofs: Roofs): Point[] {
  const peak = roofs.peaks.reduce((best, each) => (each.value > best.value ? each : best));
  return experiment.configurations.flatMap((configuration) => {
    const stage = configuration.verdicts.at(-1)?.stages.find((each) => each.stage === 'total');
    const add = (measurement: Measurement | undefined, ns: number): Point[] => {
      const bytes = Number(measurement?.minBytes ?? 0n);
      const flops = Number(measurement?.minFlops ?? 0n);
      if (!measurement || bytes <= 0 || flops <= 0 || ns <= 0) return [];
      const intensity = flops / bytes;
      const rate = (flops / ns) * 1e9;
      const isRead = intensity * roofs.read < peak.value;
      return [
        {
          name: arm(measurement.arm),
          workload: settings(configuration.workload?.axes ?? []),
          intensity,
          rate,
          ns,
          share: rate / Math.min(intensity * roofs.read, peak.value),
          roof: isRead ? 'read' : peak.name,
        },
      ];
    };
    return [
      ...add(configuration.baseline, Number(stage?.baselineMedianNs ?? 0n)),
      ...add(configuration.candidate, Number(stage?.candidateMedianNs ?? 0n)),
    ];
  });
}

function optionOf(points: Point[], roofs: Roofs): EChartsOption {
  const low = Math.min(...points.map((point) => point.intensity)) / 4;
  const high = Math.max(...points.map((point) => point.intensity), ...roofs.peaks.map((p) => p.value / roofs.read)) * 4;
  const roof = (value: number) =>
    [low, value / roofs.read, high].map((x) => [x, Math.min(x * roofs.read, value)]);
  return {
    grid: { left: 72, right: 24, top: 32, bottom: 48 },
    legend: { top: 0 },
    tooltip: {
      renderMode: 'richText',
      formatter: (item: unknown) => {
        const { seriesName, dataIndex } = item as { seriesName: string; dataIndex: number };
        const point = seriesName === 'calls' ? points[dataIndex] : undefined;
        if (!point) return seriesName;
        return `${point.name}\n${point.workload}\n${micros(point.ns)}, ${percent(point.share)} of ${point.roof}`;
      },
    },
    xAxis: { type: 'log', name: 'flop / byte', nameLocation: 'middle', nameGap: 28, min: low, max: high },
    yAxis: { type: 'log', name: 'flop/s' },
    series: [
      ...roofs.peaks.map((each) => ({ name: each.name, type: 'line', symbol: 'none', data: roof(each.value) })),
      {
        name: 'calls',
        type: 'scatter',
        symbolSize: 10,
        data: points.map((point) => [point.intensity, point.rate]),
      },
    ],
  };
}

export function Roofline({ experiment }: { experiment: Experiment }) {
  const roofs = roofsOf(experiment);
  if (!roofs) {
    return (
      <Empty>
        What this device reads and computes at most was not known when it ran.{' '}
        <Command text="assay device bench" /> measures it once; experiments on a GPU after that have a roofline.
      </Empty>
    );
  }
  const points = pointsOf(experiment, roofs);
  if (points.length === 0) {
    return (
      <Empty>
        Nothing to draw: the operator does not say how many bytes and operations a call needs at least.{' '}
        <Command text="assay compare --counters dram,tensor" /> counts them, and{' '}
        <Command text={`assay show ${experiment.experimentId} --roofline`} /> shows what was counted.
      </Empty>
    );
  }
  return (
    <Chart
      label="Least operations of a call for each least byte, and the rate that was seen"
      option={optionOf(points, roofs)}
      table={
        <Table
          caption="Calls"
          rows={points}
          columns={[
            { key: 'arm', title: 'arm', cell: (row) => row.name },
            { key: 'workload', title: 'workload', cell: (row) => row.workload },
            { key: 'intensity', title: 'flop / byte', numeric: true, cell: (row) => row.intensity.toPrecision(3) },
            { key: 'rate', title: 'flop/s', numeric: true, cell: (row) => row.rate.toExponential(2) },
            { key: 'time', title: 'median', numeric: true, cell: (row) => micros(row.ns) },
            { key: 'share', title: 'of its roof', numeric: true, cell: (row) => percent(row.share) },
            { key: 'roof', title: 'roof', cell: (row) => row.roof },
          ]}
        />
      }
    />
  );
}
