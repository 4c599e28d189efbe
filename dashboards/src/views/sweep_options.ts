// A sweep's configurations as points over its parameters, and the charts of them.
import { FailureClass, Outcome, type Experiment, type Setting } from '../../generated/proto/assay_pb';
import type { EChartsOption } from '../charts/chart';
import { palette, type Palette } from '../charts/colors';
import { unitFor } from '../charts/unit';
import { arm, settings } from '../format';
import { theme } from '../theme';

export interface Try {
  configuration: number;
  arm: string;
  parameters: Map<string, string>;
  ns?: number; // of what may rank
  failure: FailureClass;
  message: string;
}

export interface Axis {
  name: string;
  values: string[];
}

export interface WorkloadTries {
  text: string;
  axes: Setting[];
  tries: Try[];
}

export function workloadsOf(experiment: Experiment): WorkloadTries[] {
  const found = new Map<string, WorkloadTries>();
  for (const configuration of experiment.configurations) {
    const axes = configuration.workload?.axes ?? [];
    const text = settings(axes);
    const total = configuration.verdicts.at(-1)?.stages.find((stage) => stage.stage === 'total');
    const one = configuration.candidateArm ?? configuration.baselineArm;
    const isRanked =
      configuration.outcome === Outcome.FINISHED && configuration.failure === FailureClass.FAILURE_CLASS_UNSPECIFIED;
    const ns = Number(total?.candidateMedianNs || total?.baselineMedianNs || 0n);
    const here = found.get(text) ?? { text, axes, tries: [] };
    here.tries.push({
      configuration: configuration.configuration,
      arm: arm(one),
      parameters: new Map((one?.parameters ?? []).map(({ name, value }) => [name, value])),
      ns: isRanked && ns > 0 ? ns : undefined,
      failure: configuration.failure,
      message: configuration.message || configuration.verdicts.at(-1)?.reason || '',
    });
    found.set(text, here);
  }
  return [...found.values()];
}

const byNumber = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });

export function axesOf(tries: Try[]): Axis[] {
  const names = [...new Set(tries.flatMap((each) => [...each.parameters.keys()]))];
  return names.map((name) => ({
    name,
    values: [...new Set(tries.flatMap((each) => each.parameters.get(name) ?? []))].sort(byNumber),
  }));
}

// Values of launch parameters that were asked for and that nothing tried has.
export function untriedOf(experiment: Experiment, axes: Axis[]): Axis[] {
  const tried = new Map(axes.map((axis) => [axis.name, axis.values]));
  return (experiment.spec?.axes ?? [])
    .map(({ name, values }) => ({ name, values: values.filter((value) => tried.get(name)?.includes(value) === false) }))
    .filter(({ values }) => values.length > 0);
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
  const { min, max } = visualMap;
  // The ends of the scale are as far from the text as its middle is from the paper.
  const isEnd = (value: number) => Math.abs((value - min) / (max - min || 1) - 0.5) > 0.375;
  const data = [...best].map(([key, ns]) => ({
    value: [...key.split(',').map(Number), unit.of(ns)],
    label: { color: isEnd(unit.of(ns)) ? colors.paper : colors.text },
  }));
  const beside = 96;
  const labelWidth = 44;
  return {
    grid: { left: beside, right: beside, top: 32, bottom: 56 },
    tooltip: {
      renderMode: 'richText',
      formatter: (item: unknown) => {
        const [column, row, value] = (item as { value: number[] }).value;
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
        label: { show: true, formatter: (item: unknown) => ((item as { value: number[] }).value[2] ?? 0).toPrecision(4) },
        itemStyle: { borderColor: colors.paper, borderWidth: 2 },
      },
    ],
    // Where a label is wider than its cell there is none.
    media: [
      { option: { series: [{ label: { show: true } }] } },
      {
        query: { maxWidth: 2 * beside + labelWidth * x.values.length },
        option: { series: [{ label: { show: false }, itemStyle: { borderWidth: x.values.length > 24 ? 0 : 2 } }] },
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
