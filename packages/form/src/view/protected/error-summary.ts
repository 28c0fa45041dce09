import { html, render } from 'lit/html.js';
import type { Messages } from '../../messages/index.js';
import { idOf } from '../focus.js';
import { summarySheets } from './protected-sheets.js';

/** A field that has an error, or that could have one. */
export interface Entry {
  path: string;
  label: string;
}

export interface SummaryOptions {
  messages: Messages;
  /** Remaining problems, in display order. */
  problems: readonly Entry[];
  /** The secrets that are being entered, with or without errors. */
  secrets: readonly Entry[];
  /** Moves focus to a field. */
  onChoose: (path: string) => void;
}

/**
 * The problems to fix before a save, with a link to each field. A host page can save repeatedly
 * while the user types, and its style sheets can expose the height of every element that appears or
 * disappears. The list is therefore in its own shadow root, and as large as if every secret had an
 * error: only the user sees which ones do.
 */
export class ErrorSummary extends HTMLElement {
  readonly #root = this.attachShadow({ mode: 'open' });
  readonly #sizer = document.createElement('div');
  readonly #list = document.createElement('div');

  constructor() {
    super();
    this.#sizer.className = 'sizer';
    this.#sizer.ariaHidden = 'true';
    this.#list.className = 'list';
    this.#list.tabIndex = -1;
    this.#list.role = 'group';
    this.#list.setAttribute('aria-labelledby', 'title');
    this.#root.adoptedStyleSheets = summarySheets;
    this.#root.append(this.#sizer, this.#list);
  }

  set options({ messages: m, problems, secrets, onChoose }: SummaryOptions) {
    const others = problems.filter(({ path }) => !secrets.some((secret) => isAtOrBelow(path, secret.path)));
    const most = [...others, ...secrets];
    render(
      html`<h2>${longer(m.summary(most.length), m.summaryDone)}</h2>
        <p>${most.map(({ label }) => label).join(', ')}</p>`,
      this.#sizer,
    );
    const links = problems.map(({ path, label }, index) => {
      const go = (event: Event): void => {
        // Keep the frame's URL, and with it the history of the host page, unchanged.
        event.preventDefault();
        onChoose(path);
      };
      return html`${index ? ', ' : ''}<a href="#${idOf(path)}" @click=${go}>${label}</a>`;
    });
    render(
      html`<h2 id="title">${problems.length > 0 ? m.summary(problems.length) : m.summaryDone}</h2>
        <p>${links}</p>`,
      this.#list,
    );
  }

  override focus(): void {
    this.#list.focus();
  }
}

const isAtOrBelow = (path: string, parent: string): boolean => `${path}/`.startsWith(`${parent}/`);

const longer = (one: string, other: string): string => (other.length > one.length ? other : one);
