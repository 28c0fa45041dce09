type Child = Node | string | false | null | undefined;
type Value = string | boolean | undefined | ((event: Event) => void);

/**
 * An element with its attributes and children. Text is text: nothing that came from outside is ever read as markup.
 * @param attributes `false` and `undefined` leave one out, `true` is empty; `onclick` and the like listen
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

/** A drawing that says nothing a word beside it doesn't. */
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

/** A button; `about` follows its label for who can't see where it stands. */
export function button(label: string, about: string, style: string, press: () => void): HTMLButtonElement {
  return el(
    'button',
    { type: 'button', class: `${style} small`, onclick: press },
    el('span', {}, label),
    about !== '' && el('span', { class: 'hidden' }, ` ${about}`),
  );
}

/**
 * Does what a button asks for, once at a time. It keeps the focus meanwhile, and what goes wrong is told in `problem`.
 * Answers whether it was done.
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

/** Writes text where it changed, so that nobody's selection or reading is disturbed. */
export function write(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

let region: HTMLElement | undefined;

/** Says what happened to who can't see it. One region for the page: fifty would talk over each other. */
export function announce(text: string): void {
  region ??= el('p', { class: 'hidden', role: 'status' });
  if (!region.isConnected) document.body.append(region);
  region.textContent = text;
}
