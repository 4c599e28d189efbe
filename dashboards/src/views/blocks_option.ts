// The samples of both arms as boxes, one a block, in the order in which the blocks ran, with the clock of each below.
import type { Block, Configuration, Measurement } from '../../generated/proto/assay_pb';
import { palette } from '../charts/colors';
import type { EChartsOption } from '../charts/chart';
import { unitFor } from '../charts/unit';
import { micros } from '../format';
import { theme } from '../theme';

export type Box = [number, number, number, number, number];

export interface BlockBox {
  name: string; // B1, A, B2 of a B-A-B round
  numSamples: number;
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

// The samples lie one after another, block by block.
function boxes(measurement: Measurement | undefined, isBaseline: boolean): BlockBox[] {
  const samples = measurement?.stages.find((stage) => stage.stage === 'total')?.samplesNs ?? [];
  const blocks = measurement?.blocks ?? [];
  const legs = (round: number) => blocks.filter((block) => block.round === round).map((block) => block.leg);
  let next = 0;
  return blocks.flatMap((block: Block) => {
    const num = Math.floor(block.numCalls / Math.max(block.callsPerSample, 1));
    const mine = samples.slice(next, next + num).map(Number);
    next += num;
    if (mine.length === 0) return [];
    const mates = legs(block.round);
    const turn = mates.length > 1 ? mates.filter((leg) => leg <= block.leg).length : '';
    return [
      {
        name: `${isBaseline ? 'A' : 'B'}${turn}`,
        numSamples: mine.length,
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

export const hasClocks = (blocks: BlockBox[]) => blocks.some((block) => block.clock > 0);

// The scale follows the quartiles, and those of most blocks: a few extremes would flatten all boxes.
function limitsOf(blocks: BlockBox[]): [number, number] {
  const quartiles = (of: BlockBox[], place: 1 | 3, share: number) =>
    quantile(of.map((block) => block.box[place]).sort((a, b) => a - b), share);
  const arms = [true, false].map((isBaseline) => blocks.filter((block) => block.isBaseline === isBaseline));
  const usual = Math.max(...arms.filter((arm) => arm.length > 0).map((arm) => quartiles(arm, 3, 0.5)));
  const low = quartiles(blocks, 1, 0.1);
  const high = Math.min(quartiles(blocks, 3, 0.9), 2 * usual);
  const margin = Math.max(high - low, 0.01 * high);
  return [Math.max(0, low - margin), high + margin];
}

function tooltipOf(block: BlockBox): string {
  const lines = [
    `round ${block.round + 1}, ${block.name}: median ${micros(block.box[2])}`,
    `quartiles ${micros(block.box[1])} to ${micros(block.box[3])}`,
    `extremes ${micros(block.box[0])} to ${micros(block.box[4])}, ${block.numSamples} samples`,
  ];
  if (block.clock) lines.push(`SM clock ${block.clock} MHz`);
  if (block.leftOut) lines.push(`left out: ${block.leftOut}`);
  return lines.join('\n');
}

// Every other round is shaded, from the first of its blocks to the last.
function shadesOf(blocks: BlockBox[]) {
  return [...new Set(blocks.map((block) => block.round))]
    .filter((round) => round % 2 === 1)
    .map((round) => {
      const first = blocks.findIndex((block) => block.round === round);
      const num = blocks.filter((block) => block.round === round).length;
      return [{ xAxis: first - 0.5 }, { xAxis: first + num - 0.5 }];
    });
}

export function blocksOption(blocks: BlockBox[]): EChartsOption {
  const colors = palette(theme());
  const clocks = hasClocks(blocks);
  const [low, high] = limitsOf(blocks);
  const unit = unitFor(high);
  const cut = (value: number) => unit.of(Math.min(Math.max(value, low), high));
  // Where a box goes on beyond the scale.
  const beyond = blocks.flatMap((block, index) => [
    ...(block.box[4] > high ? [{ value: [index, unit.of(high)], block: index, symbolRotate: 0 }] : []),
    ...(block.box[0] < low ? [{ value: [index, unit.of(low)], block: index, symbolRotate: 180 }] : []),
  ]);
  const axis = {
    type: 'category',
    data: blocks.map((block) => `${block.round + 1} ${block.name}`),
    axisTick: { show: false },
    nameLocation: 'middle',
    nameGap: 30,
  };
  // The number of a round stands below its first block.
  const isFirst = (index: number) => blocks[index]?.round !== blocks[index - 1]?.round;
  const axisLabel = { interval: 0, formatter: (_: string, index: number) => (isFirst(index) ? String((blocks[index]?.round ?? 0) + 1) : '') };
  return {
    grid: clocks
      ? [
          { left: 64, right: 24, top: 40, height: 220 },
          { left: 64, right: 24, top: 306, bottom: 56 },
        ]
      : [{ left: 64, right: 24, top: 40, bottom: 56 }],
    tooltip: {
      trigger: 'item',
      renderMode: 'richText',
      formatter: (item: unknown) => {
        const { dataIndex, data } = item as { dataIndex: number; data?: { block?: number } };
        const block = blocks[data?.block ?? dataIndex];
        return block ? tooltipOf(block) : '';
      },
    },
    xAxis: [
      { ...axis, axisLabel: clocks ? { show: false } : axisLabel, name: clocks ? '' : 'round' },
      ...(clocks ? [{ ...axis, axisLabel, gridIndex: 1, name: 'round' }] : []),
    ],
    yAxis: [
      { type: 'value', name: unit.name, scale: true },
      ...(clocks ? [{ type: 'value', name: 'MHz', scale: true, gridIndex: 1, splitNumber: 2 }] : []),
    ],
    dataZoom: [{ type: 'inside', xAxisIndex: clocks ? [0, 1] : [0] }],
    series: [
      {
        type: 'boxplot',
        boxWidth: [4, 24],
        data: blocks.map((block) => ({
          value: block.box.map(cut),
          itemStyle: {
            color: 'transparent',
            borderColor: block.isBaseline ? colors.baseline : colors.candidate,
            borderWidth: block.isBaseline ? 2 : 1,
            borderType: block.leftOut ? 'dotted' : 'solid',
          },
        })),
        markArea: { silent: true, itemStyle: { color: colors.grid, opacity: 0.5 }, data: shadesOf(blocks) },
      },
      {
        type: 'scatter',
        name: 'beyond the scale',
        symbol: 'triangle',
        symbolSize: 7,
        color: colors.quiet,
        data: beyond,
      },
      ...(clocks
        ? [
            {
              type: 'line',
              name: 'SM clock',
              step: 'middle',
              symbolSize: 4,
              xAxisIndex: 1,
              yAxisIndex: 1,
              color: colors.quiet,
              data: blocks.map((block, index) => [index, block.clock || null]),
            },
          ]
        : []),
    ],
  };
}
