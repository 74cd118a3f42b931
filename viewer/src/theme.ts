// Whether the reader's system asks for light or dark, for what is drawn rather than styled.

import type { Theme } from './palette';

export const darkScheme = window.matchMedia('(prefers-color-scheme: dark)');

export function theme(): Theme {
  return darkScheme.matches ? 'dark' : 'light';
}
