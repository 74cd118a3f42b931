// Whether the reader's system prefers light or dark, for pictures that are drawn rather than
// styled.

import type { Theme } from './palette';

export const darkScheme = window.matchMedia('(prefers-color-scheme: dark)');

export function theme(): Theme {
  return darkScheme.matches ? 'dark' : 'light';
}
