import { type PropertyDeclarations, type PropertyValues, ReactiveElement } from '@lit/reactive-element';
import { ConnectorFrameError, type CatalogType } from '@connector-frame/core/connect';
import { json, text } from '../converters.js';
import { ConnectorErrorEvent } from '../events/connector-error-event.js';
import { ConnectorSelectEvent } from '../events/connector-select-event.js';
import type { ConnectorCatalogEventMap } from '../events/catalog-event-map.js';
import { isOtherJson } from '../has-changed.js';
import { screenReaderStyles } from '../screen-reader-styles.js';
import { createStates } from '../states.js';
import { catalogStyles } from './catalog-styles.js';
import { CatalogView, type CatalogContent } from './catalog-view.js';
import { fetchTypes, isType } from './fetch-types.js';

type Listener<K extends keyof ConnectorCatalogEventMap> = (
  this: ConnectorCatalogElement,
  event: ConnectorCatalogEventMap[K],
) => unknown;

/**
 * A picker of connector types: search that forgives slips, categories, marks, all by keyboard. It shows the types it is
 * given, or those of the host's catalog route, and says which one the person chose.
 *
 * @tag connector-catalog
 * @tagname connector-catalog
 *
 * @slot loading - In place of the skeleton.
 * @slot error - In place of the message and its button.
 * @slot empty - In place of the words for a search that found nothing.
 *
 * @csspart search - The search field.
 * @csspart category - The choice of a category.
 * @csspart count - How many are shown.
 * @csspart list - Around the types.
 * @csspart item - One type: a button.
 * @csspart icon - Its mark.
 * @csspart name - Its name.
 * @csspart description - The line below.
 * @csspart loading - Around the skeleton.
 * @csspart empty - Around the words for a search that found nothing.
 * @csspart error - Around the message that there are no types.
 * @csspart retry - The button of that message.
 *
 * @cssState loading - The types are not there yet.
 * @cssState ready - They are shown.
 * @cssState empty - The search found none.
 * @cssState error - They can't be had.
 *
 * @cssprop --connector-color-primary - Focus rings and the chosen type.
 * @cssprop --connector-color-text - Text.
 * @cssprop --connector-color-background - Fields and cards.
 * @cssprop --connector-color-border - Borders.
 * @cssprop --connector-font-family - A font stack.
 * @cssprop --connector-border-radius - Corners: a length.
 *
 * @fires {ConnectorSelectEvent} select - The person chose a type: `event.connectorType`.
 * @fires {ConnectorErrorEvent} error - The types can't be had: branch on `event.error.code`.
 */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- only gives types to what the class has already
export class ConnectorCatalogElement extends ReactiveElement {
  static override readonly properties: PropertyDeclarations = {
    kind: { converter: text },
    hostUrl: { converter: text, attribute: 'host-url' },
    types: { converter: json, hasChanged: isOtherJson },
    selected: { converter: text },
  };

  static override readonly shadowRootOptions: ShadowRootInit = { mode: 'open', delegatesFocus: true };
  static override readonly styles = [screenReaderStyles, catalogStyles];

  /** Which catalog to ask the host for. Default: `input`. */
  declare kind: 'input' | 'output' | undefined;
  /** Where your host's routes stand: `/api`. Its catalog route is asked, unless `types` are given. */
  declare hostUrl: string | undefined;
  /** The types to choose from. */
  declare types: CatalogType[] | undefined;
  /** `type_id` of the type that is shown as chosen. */
  declare selected: string | undefined;

  readonly #states = createStates<'loading' | 'ready' | 'empty' | 'error'>(this);
  #view: CatalogView | undefined;
  #content: CatalogContent = { phase: 'waiting' };
  /** What was asked for last; an answer to anything else comes too late. */
  #asked = '';

  /** Asks the host again. */
  reload(): void {
    this.#asked = '';
    this.#content = { phase: 'waiting' };
    this.requestUpdate();
  }

  /** Focus on the search field. */
  override focus(options?: FocusOptions): void {
    this.#view?.focus(options);
  }

  protected override createRenderRoot(): HTMLElement | DocumentFragment {
    const root = super.createRenderRoot();
    this.#view = new CatalogView(root, {
      choose: (type) => this.dispatchEvent(new ConnectorSelectEvent(type)),
      retry: () => this.reload(),
      found: (count) => this.#states.set('empty', count === 0),
    });
    return root;
  }

  protected override update(changed: PropertyValues): void {
    super.update(changed);
    if (this.types !== undefined) this.#take(this.types);
    else if (this.hostUrl !== undefined) void this.#ask(this.hostUrl, this.kind ?? 'input');
    this.#show();
  }

  #take(types: unknown): void {
    this.#asked = '';
    if (Array.isArray(types) && types.every(isType)) this.#content = { phase: 'ready', types };
    else this.#fail(new ConnectorFrameError('invalid_options', 'types must be a list of connector types'));
  }

  async #ask(hostUrl: string, kind: string): Promise<void> {
    const question = `${kind} ${hostUrl}`;
    if (this.#asked === question) return;
    this.#asked = question;
    this.#content = { phase: 'waiting' };
    const answer = await fetchTypes(hostUrl, kind).catch((error: unknown) => error);
    if (this.#asked !== question || this.types !== undefined) return;
    if (Array.isArray(answer)) this.#content = { phase: 'ready', types: answer };
    else this.#fail(answer);
    this.#show();
  }

  #fail(error: unknown): void {
    const told = error instanceof ConnectorFrameError ? error : new ConnectorFrameError('load_failed', String(error));
    if (this.#content.phase === 'error' && this.#content.why === told.message) return;
    this.#content = { phase: 'error', why: told.message };
    this.dispatchEvent(new ConnectorErrorEvent(told));
  }

  #show(): void {
    const { phase } = this.#content;
    this.#states.set('loading', phase === 'waiting');
    this.#states.set('ready', phase === 'ready');
    this.#states.set('error', phase === 'error');
    this.#view?.show(this.#content, this.selected);
  }
}

// What a class cannot say of itself: its events have types of their own.
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- as above
export interface ConnectorCatalogElement {
  addEventListener<K extends keyof ConnectorCatalogEventMap>(
    type: K,
    listener: Listener<K>,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener<K extends keyof ConnectorCatalogEventMap>(
    type: K,
    listener: Listener<K>,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | EventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'connector-catalog': ConnectorCatalogElement;
  }
}
