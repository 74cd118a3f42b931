// What a reader takes away: a table as CSV, a picture as PNG or SVG. Nothing leaves the machine.

/** Quoted for spreadsheets: text that would be a formula there stays text. */
export function csvField(text: string): string {
  const guarded = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+(e[-+]?\d+)?$/i.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(csvField).join(',')}\r\n`).join('');
}

export function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser reads it after this turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The picture on a canvas as the screen shows it. */
export function downloadCanvas(name: string, canvas: HTMLCanvasElement): void {
  canvas.toBlob((png) => png && download(`${name}.png`, png), 'image/png');
}

/** A picture as text; nothing in it runs or is fetched. */
export function downloadSvg(name: string, svg: string): void {
  download(`${name}.svg`, new Blob([svg], { type: 'image/svg+xml' }));
}
