// Makes elements; everything on the page goes through here, so that text never becomes markup.

export type Attributes = Record<string, string | number | boolean | undefined>;
export type Child = Node | string;

/** A property of false or undefined is left out, true becomes an empty attribute. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children);
  return made;
}

/** A card of the page with its heading. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  const heading = element('h2', { id: `${id}-title` }, title);
  return element('section', { id, 'aria-labelledby': heading.id }, heading, ...children);
}

export function columnHead(text: string, numeric = false): HTMLElement {
  return element('th', { scope: 'col', class: numeric && 'number' }, text);
}

export function rowHead(child: Child, attributes: Attributes = {}): HTMLElement {
  return element('th', { scope: 'row', ...attributes }, child);
}

/** A right-aligned number that shows its exact value on hover and to tests. */
export function numberCell(shown: string, exact: string, value: number): HTMLElement {
  return element('td', { class: 'number', title: exact, 'data-value': value }, shown);
}

export function button(
  text: string,
  attributes: Attributes,
  onClick: () => void,
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', onClick);
  return made;
}
