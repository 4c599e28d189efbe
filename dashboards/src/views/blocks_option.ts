// The samples of both arms as boxes, one a block, in the order in which the blocks ran.
import type { Block, Configuration, Measurement } from '../../generated/proto/assay_pb';
import { palette } from '../charts/colors';
import type { EChartsOption } from '../charts/chart';
import { micros } from '../format';
import { theme } from '../theme';

export type Box = [number, number, number, number, number];

export interface BlockBox {
  name: string; // B1, A, B2 of a B-A-B round
  isBaseline: boolean;
  round: number;
  startedNs: bigint;
  box: Box; // least, lower quartile, median, upper quartile, most; nanoseconds
  clock: number;
  leftOut: string;
}

function quantile(sorted: number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

function boxOf(samples: number[]): Box {
  const sorted = [...samples].sort((a, b) => a - b);
  return [0, 0.25, 0.5, 0.75, 1].map((share) => quantile(sorted, share)) as Box;
}

function boxes(measurement: Measurement | undefined, isBaseline: boolean): BlockBox[] {
  const samples = measurement?.stages.find((stage) => stage.stage === 'total')?.samplesNs ?? [];
  const legs = new Map<number, number>();
  let next = 0;
  return (measurement?.blocks ?? []).flatMap((block: Block) => {
    const num = Math.floor(block.numCalls / Math.max(block.callsPerSample, 1));
    const mine = samples.slice(next, next + num).map(Number);
    next += num;
    const turn = (legs.get(block.round) ?? 0) + 1;
    legs.set(block.round, turn);
    if (mine.length === 0) return [];
    return [
      {
        name: isBaseline ? 'A' : `B${turn}`,
        isBaseline,
        round: block.round,
        startedNs: block.startedNs,
        box: boxOf(mine),
        clock: block.smClockMhz,
        leftOut: block.disqualified ? block.disqualifiedBecause || 'yes' : '',
      },
    ];
  });
}

export function blocksOf(configuration: Configuration): BlockBox[] {
  const all = [...boxes(configuration.baseline, true), ...boxes(configuration.candidate, false)];
  return all.sort((a, b) => (a.startedNs < b.startedNs ? -1 : a.startedNs > b.startedNs ? 1 : 0));
}

export function blocksOption(blocks: BlockBox[]): EChartsOption {
  const colors = palette(theme());
  const label = (block: BlockBox) => `${block.round + 1} ${block.name}`;
  return {
    grid: { left: 64, right: 24, top: 16, bottom: 56 },
    tooltip: {
      trigger: 'item',
      renderMode: 'richText',
      formatter: (item: unknown) => {
        const block = blocks[(item as { dataIndex: number }).dataIndex];
        if (!block) return '';
        const clock = block.clock ? `, ${block.clock} MHz` : '';
        return (
          `round ${block.round + 1}, ${block.name}: median ${micros(block.box[2])}\nquartiles ${micros(block.box[1])} to ` +
          `${micros(block.box[3])}${clock}${block.leftOut ? `\nleft out: ${block.leftOut}` : ''}`
        );
      },
    },
    xAxis: { type: 'category', data: blocks.map(label), name: 'round and leg', nameLocation: 'middle', nameGap: 30 },
    yAxis: { type: 'value', name: 'µs', scale: true },
    dataZoom: [{ type: 'inside' }],
    series: [
      {
        type: 'boxplot',
        data: blocks.map((block) => ({
          value: block.box.map((value) => value / 1000),
          itemStyle: {
            color: 'transparent',
            borderColor: block.isBaseline ? colors.baseline : colors.candidate,
            borderType: block.leftOut ? 'dotted' : 'solid',
          },
        })),
      },
    ],
  };
}
