// A sweep's configurations as points over its parameters, and the charts of them.
import { FailureClass, Outcome, type Experiment } from '../../generated/proto/assay_pb';
import type { EChartsOption } from '../charts/chart';
import { palette, type Palette } from '../charts/colors';
import { unitFor } from '../charts/unit';
import { arm, settings } from '../format';
import { theme } from '../theme';

export interface Try {
  arm: string;
  parameters: Map<string, string>;
  ns?: number; // of what may rank
  ratio?: number;
  failure: FailureClass;
  message: string;
}

export interface Axis {
  name: string;
  values: string[];
}

export interface WorkloadTries {
  text: string;
  tries: Try[];
}

export function workloadsOf(experiment: Experiment): WorkloadTries[] {
  const found = new Map<string, Try[]>();
  for (const configuration of experiment.configurations) {
    const text = settings(configuration.workload?.axes ?? []) || 'the only one';
    const total = configuration.verdicts.at(-1)?.stages.find((stage) => stage.stage === 'total');
    const one = configuration.candidateArm ?? configuration.baselineArm;
    const isRanked =
      configuration.outcome === Outcome.FINISHED && configuration.failure === FailureClass.FAILURE_CLASS_UNSPECIFIED;
    const ns = Number(total?.candidateMedianNs || total?.baselineMedianNs || 0n);
    const tries = found.get(text) ?? [];
    tries.push({
      arm: arm(one),
      parameters: new Map((one?.parameters ?? []).map(({ name, value }) => [name, value])),
      ns: isRanked && ns > 0 ? ns : undefined,
      ratio: total?.hasRatio ? total.ratio : undefined,
      failure: configuration.failure,
      message: configuration.message || configuration.verdicts.at(-1)?.reason || '',
    });
    found.set(text, tries);
  }
  return [...found].map(([text, tries]) => ({ text, tries }));
}

const byNumber = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });

export function axesOf(tries: Try[]): Axis[] {
  const names = [...new Set(tries.flatMap((each) => [...each.parameters.keys()]))];
  return names.map((name) => ({
    name,
    values: [...new Set(tries.flatMap((each) => each.parameters.get(name) ?? []))].sort(byNumber),
  }));
}

export const rankedOf = (tries: Try[]) =>
  tries.filter((each) => each.ns !== undefined).sort((a, b) => (a.ns ?? 0) - (b.ns ?? 0));

export function failuresOf(tries: Try[]) {
  const classes = new Map<FailureClass, Try[]>();
  for (const each of tries) {
    if (each.failure) classes.set(each.failure, [...(classes.get(each.failure) ?? []), each]);
  }
  return [...classes].map(([failure, all]) => ({
    name: (FailureClass[failure] ?? 'unknown').toLowerCase().replaceAll('_', ' '),
    num: all.length,
    firstArm: all[0]?.arm ?? '',
    firstMessage: all[0]?.message ?? '',
  }));
}

function scaleOf(tries: Try[], colors: Palette) {
  const times = rankedOf(tries).map((each) => each.ns ?? 0);
  const unit = unitFor(times.at(-1) ?? 1);
  const visualMap = {
    min: unit.of(times[0] ?? 0),
    max: unit.of(times.at(-1) ?? 1),
    precision: 3,
    orient: 'vertical',
    right: 0,
    top: 'center',
    textStyle: { color: colors.quiet },
    // The middle is to be seen on paper too: no colour means that nothing ranks.
    inRange: { color: colors.heat.map((color, place) => (place === 2 ? colors.line : color)) },
  };
  return { unit, visualMap };
}

export function heatOption(tries: Try[], x: Axis, y: Axis): EChartsOption {
  const colors = palette(theme());
  const { unit, visualMap } = scaleOf(tries, colors);
  const best = new Map<string, number>();
  for (const each of rankedOf(tries)) {
    const key = `${x.values.indexOf(each.parameters.get(x.name) ?? '')},${y.values.indexOf(each.parameters.get(y.name) ?? '')}`;
    if (!best.has(key)) best.set(key, each.ns ?? 0);
  }
  const data = [...best].map(([key, ns]) => [...key.split(',').map(Number), unit.of(ns)]);
  const isSmall = x.values.length <= 12;
  return {
    grid: { left: 96, right: 96, top: 32, bottom: 56 },
    tooltip: {
      renderMode: 'richText',
      formatter: (item: unknown) => {
        const [column, row, value] = (item as { data: number[] }).data;
        return `${x.name}=${x.values[column ?? 0]}, ${y.name}=${y.values[row ?? 0]}\n${(value ?? 0).toPrecision(4)} ${unit.name}`;
      },
    },
    xAxis: { type: 'category', data: x.values, name: x.name, nameLocation: 'middle', nameGap: 30 },
    yAxis: { type: 'category', data: y.values, name: y.name },
    visualMap: { ...visualMap, calculable: true, text: [unit.name, ''] },
    series: [
      {
        type: 'heatmap',
        data,
        label: { show: isSmall, formatter: (item: unknown) => ((item as { data: number[] }).data[2] ?? 0).toPrecision(4) },
        itemStyle: { borderColor: colors.paper, borderWidth: isSmall ? 2 : 0 },
      },
    ],
  };
}

export function parallelOption(tries: Try[], axes: Axis[]): EChartsOption {
  const ranked = rankedOf(tries).slice(0, 2000);
  const colors = palette(theme());
  const { unit, visualMap } = scaleOf(tries, colors);
  return {
    parallel: { left: 48, right: 64, top: 40, bottom: 24 },
    parallelAxis: [
      ...axes.map((axis, dim) => ({
        dim,
        name: axis.name,
        type: 'category',
        data: axis.values,
        axisLabel: { color: colors.quiet },
        nameTextStyle: { color: colors.quiet },
      })),
      { dim: axes.length, name: unit.name, scale: true, axisLabel: { color: colors.quiet }, nameTextStyle: { color: colors.quiet } },
    ],
    visualMap: { ...visualMap, dimension: axes.length, show: false },
    series: [
      {
        type: 'parallel',
        lineStyle: { width: 1.5, opacity: 0.6 },
        data: ranked.map((each) => [...axes.map((axis) => each.parameters.get(axis.name) ?? ''), unit.of(each.ns ?? 0)]),
      },
    ],
  };
}
