// A sweep's configurations as points over its parameters, and the charts of them.
import { FailureClass, Outcome, type Experiment } from '../../generated/proto/assay_pb';
import type { EChartsOption } from '../charts/chart';
import { palette } from '../charts/colors';
import { arm, micros, settings } from '../format';
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

const inMicros = (ns: number) => ns / 1000;

function range(tries: Try[]): { min: number; max: number } {
  const times = rankedOf(tries).map((each) => inMicros(each.ns ?? 0));
  return { min: times[0] ?? 0, max: times.at(-1) ?? 1 };
}

export function heatOption(tries: Try[], x: Axis, y: Axis): EChartsOption {
  const best = new Map<string, number>();
  for (const each of rankedOf(tries)) {
    const key = `${x.values.indexOf(each.parameters.get(x.name) ?? '')},${y.values.indexOf(each.parameters.get(y.name) ?? '')}`;
    if (!best.has(key)) best.set(key, inMicros(each.ns ?? 0));
  }
  const data = [...best].map(([key, value]) => [...key.split(',').map(Number), value]);
  const colors = palette(theme());
  return {
    grid: { left: 96, right: 96, top: 16, bottom: 56 },
    tooltip: {
      renderMode: 'richText',
      formatter: (item: unknown) => {
        const [column, row, value] = (item as { data: number[] }).data;
        return `${x.name}=${x.values[column ?? 0]}, ${y.name}=${y.values[row ?? 0]}\n${micros((value ?? 0) * 1000)}`;
      },
    },
    xAxis: { type: 'category', data: x.values, name: x.name, nameLocation: 'middle', nameGap: 30 },
    yAxis: { type: 'category', data: y.values, name: y.name },
    visualMap: {
      ...range(tries),
      calculable: true,
      orient: 'vertical',
      right: 0,
      top: 'center',
      text: ['µs', ''],
      textStyle: { color: colors.quiet },
      inRange: { color: colors.heat },
    },
    series: [
      {
        type: 'heatmap',
        data,
        label: { show: x.values.length <= 12, formatter: (item: unknown) => ((item as { data: number[] }).data[2] ?? 0).toPrecision(4) },
      },
    ],
  };
}

export function parallelOption(tries: Try[], axes: Axis[]): EChartsOption {
  const ranked = rankedOf(tries).slice(0, 2000);
  const colors = palette(theme());
  return {
    parallel: { left: 48, right: 120, top: 40, bottom: 24 },
    parallelAxis: [
      ...axes.map((axis, dim) => ({
        dim,
        name: axis.name,
        type: 'category',
        data: axis.values,
        axisLabel: { color: colors.quiet },
        nameTextStyle: { color: colors.quiet },
      })),
      { dim: axes.length, name: 'µs', scale: true, axisLabel: { color: colors.quiet }, nameTextStyle: { color: colors.quiet } },
    ],
    visualMap: {
      ...range(tries),
      dimension: axes.length,
      orient: 'vertical',
      right: 0,
      top: 'center',
      textStyle: { color: colors.quiet },
      inRange: { color: colors.heat },
    },
    series: [
      {
        type: 'parallel',
        lineStyle: { width: 1.5, opacity: 0.6 },
        data: ranked.map((each) => [...axes.map((axis) => each.parameters.get(axis.name) ?? ''), inMicros(each.ns ?? 0)]),
      },
    ],
  };
}
