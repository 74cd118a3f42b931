// What `uctrace view` put into the page, also while the browser still reads it.

function isWhole(found: Element | null): boolean {
  return (found !== null && found.nextElementSibling !== null) || document.readyState !== 'loading';
}

/** The text of the element once all of it is there; '' if there is none in the page. */
export function textOf(id: string): Promise<string> {
  const find = () => document.getElementById(id);
  return new Promise((done) => {
    const tell = () => done(find()?.textContent?.trim() ?? '');
    if (isWhole(find())) return tell();
    const observer = new MutationObserver(() => {
      if (!isWhole(find())) return;
      observer.disconnect();
      document.removeEventListener('readystatechange', end);
      tell();
    });
    const end = () => {
      observer.disconnect();
      tell();
    };
    document.addEventListener('readystatechange', end, { once: true });
    observer.observe(document, { childList: true, subtree: true });
  });
}
