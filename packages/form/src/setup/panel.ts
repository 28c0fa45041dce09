import type { Messages } from '../messages/index.js';
import type { Step } from './aws-role.js';
import css from './setup.css?inline';
import type { Lookup } from './fill.js';

type Child = Node | string | undefined;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/**
 * A section that is folded at first. Its content is in its own shadow root, which no style sheet of
 * the host page reaches, and its height does not depend on what it shows: some texts are derived from
 * secrets.
 */
export interface Panel {
  /** Replaces the content. */
  show(...content: Child[]): void;
  readonly open: boolean;
}

/** @param colors the sheet with the colors of the form's shadow roots */
export function createPanel(host: HTMLElement, title: string, colors: CSSStyleSheet, onToggle: () => void): Panel {
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet, colors];
  const content = make('div', { className: 'content' });
  const fold = make('details', {}, make('summary', {}, title), content);
  fold.addEventListener('toggle', onToggle);
  root.append(fold);
  return {
    show: (...children) => content.replaceChildren(...children.filter((child) => child !== undefined)),
    get open() {
      return fold.open;
    },
  };
}

/** A text to copy, with its button. */
export interface Copyable {
  element: HTMLElement;
  update(lookup: Lookup): void;
}

/** @param said tells screen readers that the text was copied */
export function createCopyable({ title, rows, text }: Step, m: Messages, said: (text: string) => void): Copyable {
  const area = make('textarea', { readOnly: true, rows, wrap: 'off', spellcheck: false, ariaLabel: title });
  const button = make('button', { type: 'button', textContent: m.copy, ariaLabel: m.copyText(title) });
  button.addEventListener('click', () => {
    void copyText();
  });
  async function copyText(): Promise<void> {
    await copy(area);
    button.textContent = m.copied;
    said(m.copied);
  }
  return {
    element: make('div', { className: 'step' }, make('h2', {}, title), button, area),
    update(lookup) {
      const filled = text(lookup);
      if (area.value === filled) return;
      area.defaultValue = filled;
      button.textContent = m.copy;
    },
  };
}

async function copy(area: HTMLTextAreaElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(area.value);
  } catch {
    // Not delegated to the frame by its host page.
    const root = area.getRootNode();
    const focused = root instanceof ShadowRoot ? root.activeElement : undefined;
    area.select();
    document.execCommand('copy');
    if (focused instanceof HTMLElement) focused.focus();
  }
}
