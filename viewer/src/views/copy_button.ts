// A button that copies a text, also in a page from disk.

import { button, element } from '../dom';

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page from disk may not be allowed to: copy the selected text, as a reader would.
    const area = element('textarea', { 'aria-hidden': 'true', class: 'offscreen' });
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

/** A button that copies a text and says whether that worked. */
export function copyButton(title: string, text: () => string): HTMLButtonElement {
  const made: HTMLButtonElement = button(title, { class: 'copy', 'data-testid': 'copy' }, () => {
    void copyText(text()).then((copied) => {
      made.textContent = copied ? 'Copied' : 'Cannot copy here';
      made.dataset['copied'] = String(copied);
    });
  });
  return made;
}
