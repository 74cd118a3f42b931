// Loads the file of a tile. A page from disk may read no files but scripts, so a tile is a script: it calls
// `uctraceTile` with its contents.

import { DataError } from './error';
import { tileFile } from './tiles';

declare global {
  interface Window {
    uctraceTile?: (tile: unknown) => void;
  }
}

/** Throws a DataError if there is no such file, or if it is not a script that makes this call. */
export function loadTile(number: number): Promise<unknown> {
  const script = document.createElement('script');
  return new Promise((resolve, reject) => {
    script.onload = () => {
      script.remove();
      if (arrived === undefined) reject(new DataError('it is cut, or was changed'));
      else resolve(arrived);
      arrived = undefined;
    };
    script.onerror = () => {
      script.remove();
      reject(new DataError('it is missing, or the browser may not read it'));
    };
    script.src = tileFile(number);
    document.head.append(script);
  });
}

/** A script is run right before its `load`: nothing else comes between. */
let arrived: unknown;
window.uctraceTile = (tile) => (arrived = tile);
