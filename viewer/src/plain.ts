// Makes text of the data safe to show anywhere. The rule is that of event-log/reader/plain_text.hpp. The command line
// applied it to these texts, but a page may have been changed, or come from an older uctrace.

/** C0, DEL, C1, and characters that change the direction or the lines of the text shown. */
// eslint-disable-next-line no-control-regex
const kControls = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Those, or escapes of JSON that may stand for one. */
// eslint-disable-next-line no-control-regex
const kMayHaveControls = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\\(?:[bfnrt]|u00[01789]|u061c|u20[026])/i;

/** Shows control characters as \xNN, the bytes of their UTF-8. */
export function plainText(text: string): string {
  return text.replace(kControls, (control) =>
    Array.from(new TextEncoder().encode(control), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

/** Parses JSON, with plain texts. If there is nothing to change, it costs one search. */
export function parsePlain(json: string): unknown {
  if (!kMayHaveControls.test(json)) return JSON.parse(json);
  return JSON.parse(json, (_, value: unknown) => (typeof value === 'string' ? plainText(value) : value));
}
