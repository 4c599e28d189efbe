// One unit for all times of a chart's axis.
export interface Unit {
  name: string;
  of: (ns: bigint | number) => number;
}

export function unitFor(mostNs: number): Unit {
  const [scale, name] = mostNs >= 1e9 ? [1e9, 's'] : mostNs >= 1e6 ? [1e6, 'ms'] : mostNs >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  return { name: name as string, of: (ns) => Number(ns) / (scale as number) };
}
