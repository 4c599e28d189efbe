// Numbers, times and names as people read them; the only place where units are converted.
import type { Arm, Setting } from '../generated/proto/assay_pb';

function digits(value: number): string {
  const size = Math.abs(value);
  return value.toLocaleString('en', {
    minimumFractionDigits: 0,
    maximumFractionDigits: size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3,
  });
}

export function micros(ns: bigint | number): string {
  const value = Number(ns);
  const size = Math.abs(value);
  if (size === 0) return '–';
  if (size < 1e3) return `${digits(value)} ns`;
  if (size < 1e6) return `${digits(value / 1e3)} µs`;
  if (size < 1e9) return `${digits(value / 1e6)} ms`;
  return `${digits(value / 1e9)} s`;
}

export const ratio = (value: number) => (Number.isFinite(value) ? value.toFixed(3) : '–');
export const percent = (share: number) => (Number.isFinite(share) ? `${digits(share * 100)} %` : '–');
export const count = (value: bigint | number) => Number(value).toLocaleString('en');

export function bytes(value: bigint | number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = Number(value);
  let unit = 0;
  for (; size >= 1024 && unit + 1 < units.length; ++unit) size /= 1024;
  return `${digits(size)} ${units[unit]}`;
}

// In the reader's own time zone.
export function time(ns: bigint): string {
  if (ns === 0n) return '–';
  const date = new Date(Number(ns / 1000000n));
  const two = (value: number) => String(value).padStart(2, '0');
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  );
}

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
