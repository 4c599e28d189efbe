// Numbers, times and names as people read them; the only place where units are converted.
import type { Arm, Setting } from '../generated/proto/assay_pb';

// Four digits, so that the numbers of a column can be compared.
function digits(value: number, least = 0): string {
  const size = Math.abs(value);
  const most = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return value.toLocaleString('en', { minimumFractionDigits: Math.min(least, most), maximumFractionDigits: most });
}

export function micros(ns: bigint | number): string {
  const value = Number(ns);
  const size = Math.abs(value);
  if (size === 0) return '–';
  if (size < 1e3) return `${digits(value)} ns`;
  if (size < 1e6) return `${digits(value / 1e3, 3)} µs`;
  if (size < 1e9) return `${digits(value / 1e6, 3)} ms`;
  return `${digits(value / 1e9, 3)} s`;
}

// How long something takes or took, as people say it.
export function duration(ns: bigint): string {
  const seconds = Math.round(Number(ns) / 1e9);
  if (seconds < 1) return micros(ns);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export const ratio = (value: number) => (Number.isFinite(value) ? value.toFixed(3) : '–');

interface Interval {
  ratio: number; // 0: none
  hasInterval: boolean; // else it is an estimate
  ratioLow: number;
  ratioHigh: number;
}

export function withInterval({ ratio: value, hasInterval, ratioLow, ratioHigh }: Interval): string {
  if (value <= 0) return '–';
  return hasInterval ? `${ratio(value)} [${ratio(ratioLow)}, ${ratio(ratioHigh)}]` : `about ${ratio(value)}`;
}

export const percent = (share: number) => (Number.isFinite(share) ? `${digits(share * 100)} %` : '–');
export const plural = (value: number, one: string, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const count = (value: bigint | number) => Number(value).toLocaleString('en');

// In decimal units of a rate, as vendors state them: "4.8 TB/s".
export function rate(value: number, unit: string): string {
  if (unit === 'ns') return micros(value);
  if (unit === 'share') return percent(value);
  const short = unit === 'bytes/s' ? 'B/s' : unit;
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let size = value;
  let place = 0;
  for (; size >= 1000 && place + 1 < prefixes.length; ++place) size /= 1000;
  return `${digits(size)} ${prefixes[place]}${short}`;
}

export function bytes(value: bigint | number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = Number(value);
  let unit = 0;
  for (; size >= 1024 && unit + 1 < units.length; ++unit) size /= 1024;
  return `${digits(size)} ${units[unit]}`;
}

// As the terminal and receipts have it, wherever the reader is.
export const time = (ns: bigint) =>
  ns === 0n ? '–' : `${new Date(Number(ns / 1000000n)).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

export const shortDigest = (digest: string) => digest.slice(0, 8);
export const settings = (list: Setting[]) => list.map(({ name, value }) => `${name}=${value}`).join(', ');

export function arm(value?: Arm): string {
  if (!value) return '–';
  return value.parameters.length === 0 ? value.variant : `${value.variant}: ${settings(value.parameters)}`;
}

// Settings that are the same in every list, and those of one list that are not.
export function shared(lists: Setting[][]): { same: Setting[]; rest: (list: Setting[]) => Setting[] } {
  const first = lists[0] ?? [];
  const isIn = (list: Setting[], one: Setting) => list.some(({ name, value }) => name === one.name && value === one.value);
  const same = lists.length > 1 ? first.filter((one) => lists.every((list) => isIn(list, one))) : [];
  return { same, rest: (list) => list.filter((one) => !isIn(same, one)) };
}
