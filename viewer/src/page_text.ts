// Texts that `uctrace view` put into the page, also while the browser is still reading it.

const isThere = (id: string | undefined) => id !== undefined && document.getElementById(id) !== null;

/**
 * The text of the element, once all of it is there: the browser has read the whole page, or has reached the element
 * `after` it. '' if there is no such element.
 */
export function textOf(id: string, after?: string): Promise<string> {
  const isWhole = () => document.readyState !== 'loading' || isThere(after);
  return new Promise((done) => {
    const tell = () => done(document.getElementById(id)?.textContent?.trim() ?? '');
    if (isWhole()) {
      tell();
      return;
    }
    const end = () => {
      if (!isWhole()) return;
      observer.disconnect();
      document.removeEventListener('readystatechange', end);
      tell();
    };
    const observer = new MutationObserver(end);
    document.addEventListener('readystatechange', end);
    observer.observe(document, { childList: true, subtree: true });
  });
}
