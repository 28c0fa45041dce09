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
  /** What is still wrong, in the order shown. */
  problems: readonly Entry[];
  /** The secrets that are being entered, whether something is wrong with them or not. */
  secrets: readonly Entry[];
  /** Moves focus to a field. */
  onChoose: (path: string) => void;
}

/**
 * What is to be fixed before a save, with a link to each field. A host page can save again and again while a person types, and its style
 * sheets can make a height of every element that comes and goes. So the list is in a shadow root of its own, and as large as if
 * every secret were wrong: which of them is, shows to the person alone.
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
        // The frame's address stays as it is, and with it the history of the page around.
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
