// Checks of values that come from JSON: each returns its value, or throws a DataError that says
// where and what is wrong.

import { DataError } from './error';

/** Returns the value with its type, or throws a DataError that says where and what is wrong. */
export type Check<T> = (value: unknown) => T;

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

export function primitive<T>(what: string, accepts: (value: unknown) => boolean): Check<T> {
  return (value) => {
    if (!accepts(value)) throw new DataError(`: expected ${what}, found ${show(value)}`);
    return value as T;
  };
}

export const text = primitive<string>('text', (v) => typeof v === 'string');
export const flag = primitive<boolean>('true or false', (v) => typeof v === 'boolean');
export const integer = primitive<number>('a whole number below 2^53', (v) => Number.isSafeInteger(v));
export const count = primitive<number>(
  'a whole number from 0 to 2^53',
  (v) => Number.isSafeInteger(v) && (v as number) >= 0,
);

export function nullable<T>(check: Check<T>): Check<T | null> {
  return (value) => (value === null ? null : check(value));
}

export function oneOf<T extends string | number>(...allowed: T[]): Check<T> {
  return primitive<T>(allowed.join(' or '), (v) => allowed.includes(v as T));
}

/** Puts the place of the fault in front of its message. */
export function located(where: string, error: unknown): unknown {
  return error instanceof DataError ? new DataError(where + error.message) : error;
}

export function list<T>(check: Check<T>): Check<T[]> {
  return (value) => {
    if (!Array.isArray(value)) throw new DataError(`: expected a list, found ${show(value)}`);
    let index = 0;
    try {
      for (; index < value.length; ++index) check(value[index]);
    } catch (error) {
      throw located(`[${index}]`, error);
    }
    return value as T[];
  };
}

export function record<T extends object>(fields: { [K in keyof T]: Check<T[K]> }): Check<T> {
  const checks = Object.entries(fields) as [string, Check<unknown>][];
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new DataError(`: expected an object, found ${show(value)}`);
    }
    let field = '';
    try {
      for (const [name, check] of checks) {
        field = name;
        check((value as Record<string, unknown>)[name]);
      }
    } catch (error) {
      throw located(`.${field}`, error);
    }
    return value as T;
  };
}
