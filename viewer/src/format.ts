// Numbers and times as text, each with its unit. Independent of the reader's locale, so that two
// people who talk about a report see the same digits.

const kByteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const kCountUnits = ['', 'k', 'M', 'G', 'T', 'P'];

/** Three digits and the largest unit that keeps the number at or above 1. */
function scaled(value: number, base: number, units: string[]): string {
  let unit = 0;
  while (unit + 1 < units.length && rounded(value) >= base) {
    value /= base;
    ++unit;
  }
  const number = unit === 0 ? String(Math.round(value)) : value.toFixed(decimals(value));
  return units[unit] ? `${number} ${units[unit]}` : number;
}

function decimals(value: number): number {
  if (value >= 99.95) return 0;
  return value >= 9.995 ? 1 : 2;
}

function rounded(value: number): number {
  return Number(value.toFixed(decimals(value)));
}

/** 1536 -> "1.50 KiB" */
export function formatBytes(bytes: number): string {
  return scaled(bytes, 1024, kByteUnits);
}

/** 1234567 -> "1,234,567" */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** 1234567 -> "1.23 M", for places with little room. */
export function formatShortCount(count: number): string {
  return scaled(count, 1000, kCountUnits);
}

/** 1536 -> "1,536 B" */
export function formatExactBytes(bytes: number): string {
  return `${formatCount(bytes)} B`;
}

/** A share in percent; "0 %" and "100 %" only if that is exact. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  if (part === 0) return '0 %';
  if (part === whole) return '100 %';
  const percent = (100 * part) / whole;
  if (percent < 0.05) return '<0.1 %';
  if (percent >= 99.95) return '>99.9 %';
  return `${percent.toFixed(1)} %`;
}

/** 123456789 -> "123 ms", 7384e9 -> "2 h 3 min 4 s" */
export function formatDuration(ns: number): string {
  if (ns >= 120e9) {
    const seconds = Math.round(ns / 1e9);
    const hours = Math.floor(seconds / 3600);
    const minutes = `${Math.floor(seconds / 60) % 60} min ${seconds % 60} s`;
    return hours > 0 ? `${hours} h ${minutes}` : minutes;
  }
  for (const [unit, size] of [
    ['s', 1e9],
    ['ms', 1e6],
    ['µs', 1e3],
  ] as const) {
    if (ns >= size) return `${(ns / size).toFixed(decimals(ns / size))} ${unit}`;
  }
  return `${ns} ns`;
}

/** "2026-11-21T01:02:03Z" -> "2026-11-21 01:02:03 UTC"; anything else stays as it is. */
export function formatTime(iso: string): string {
  const match = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(\.\d+)?Z$/.exec(iso);
  return match ? `${match[1]} ${match[2]} UTC` : iso;
}
