type Child = Node | string | false | null | undefined;
type Value = string | boolean | undefined | ((event: Event) => void);

/**
 * Creates an element with attributes and children. Strings become text nodes and are never parsed
 * as HTML.
 * @param attributes `false` and `undefined` omit an attribute, `true` sets it to `''`; functions
 *   become listeners (`onclick` and so on)
 */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== false && child !== null && child !== undefined));
  return element;
}

/** Creates a decorative icon that is hidden from assistive technology. */
export function icon(path: string): SVGSVGElement {
  const drawing = svg('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' });
  drawing.append(svg('path', { d: path }));
  return drawing;
}

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** Creates a button. `about` extends its label for screen readers. */
export function button(label: string, about: string, style: string, press: () => void): HTMLButtonElement {
  return el(
    'button',
    { type: 'button', class: `${style} small`, onclick: press },
    el('span', {}, label),
    about !== '' && el('span', { class: 'hidden' }, ` ${about}`),
  );
}

/**
 * Runs a button's action, at most one at a time. The button keeps the focus meanwhile, and an error
 * is shown in `problem`. Resolves to whether the action succeeded.
 */
export async function press(
  pressed: HTMLButtonElement,
  problem: HTMLElement,
  work: () => Promise<unknown>,
): Promise<boolean> {
  if (pressed.ariaDisabled === 'true') return false;
  pressed.ariaDisabled = 'true';
  problem.hidden = true;
  try {
    await work();
    return true;
  } catch (error) {
    write(problem, error instanceof Error ? error.message : String(error));
    problem.hidden = false;
    return false;
  } finally {
    pressed.ariaDisabled = null;
  }
}

/** Sets the text only if it differs, so that selections and screen readers are not disturbed. */
export function write(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

let region: HTMLElement | undefined;

/**
 * Announces a text to screen readers. The page has a single live region; with one per row,
 * announcements would interrupt each other.
 */
export function announce(text: string): void {
  region ??= el('p', { class: 'hidden', role: 'status' });
  if (!region.isConnected) document.body.append(region);
  region.textContent = text;
}
