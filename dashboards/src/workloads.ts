// Workloads in their canonical text, "kv=int8,width=2051", told apart by what differs.
import { shared } from './format';
import type { Setting } from '../generated/proto/assay_pb';

// Canonical texts have no spaces, and lines break at spaces.
export const spaced = (text = '') => text.replaceAll(',', ', ');

interface Row {
  operatorName: string;
  workload: string;
}

type Axis = Pick<Setting, 'name' | 'value'>;

function axesOf(text: string): Axis[] {
  return text.split(',').map((part) => {
    const at = part.indexOf('=');
    return at < 0 ? { name: '', value: part } : { name: part.slice(0, at), value: part.slice(at + 1) };
  });
}

const textOf = (axes: Axis[]) => axes.map(({ name, value }) => (name ? `${name}=${value}` : value)).join(', ');

// `short` is what a workload has that others of its operator in these rows do not; `same` says the rest, a line an operator.
export function tellApart(rows: Row[]): { short: (row: Row) => string; same: string[] } {
  const operators = new Map<string, Set<string>>();
  for (const { operatorName, workload } of rows) {
    operators.set(operatorName, (operators.get(operatorName) ?? new Set()).add(workload));
  }
  const found = new Map(
    [...operators].map(([name, texts]) => [name, shared([...texts].map((text) => axesOf(text) as Setting[]))]),
  );
  return {
    short: ({ operatorName, workload }) => {
      const axes = axesOf(workload) as Setting[];
      return textOf(found.get(operatorName)?.rest(axes) ?? axes);
    },
    same: [...found].filter(([, { same }]) => same.length > 0).map(([name, { same }]) => `every ${name}: ${textOf(same)}`),
  };
}
