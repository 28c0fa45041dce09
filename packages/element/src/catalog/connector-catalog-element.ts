import { type PropertyDeclarations, type PropertyValues, ReactiveElement } from '@lit/reactive-element';
import { ConnectorFrameError, type CatalogType, type ComponentKind } from '@connector-frame/core/connect';
import { flag, json, optionalText } from '../converters.js';
import { ConnectorErrorEvent } from '../events/connector-error-event.js';
import { ConnectorSelectEvent } from '../events/connector-select-event.js';
import type { ConnectorCatalogEventMap } from '../events/catalog-event-map.js';
import { hasOtherJson } from '../has-changed.js';
import { logError } from '../log-error.js';
import { messagesFor, onTextChange } from '../messages/registry.js';
import { screenReaderStyles } from '../screen-reader-styles.js';
import { createStates } from '../states.js';
import { MISSING_AFTER } from '../mount-conditions.js';
import { catalogStyles } from './catalog-styles.js';
import { CatalogView, english, type CatalogContent } from './catalog-view.js';
import { fetchTypes, isType } from './fetch-types.js';

type Listener<K extends keyof ConnectorCatalogEventMap> = (
  this: ConnectorCatalogElement,
  event: ConnectorCatalogEventMap[K],
) => unknown;

/**
 * A catalog of connector types with icons, categories and a search that tolerates typos. Fully
 * usable by keyboard. Shows the given types, or those of the host's catalog route, and dispatches
 * an event when the user chooses one.
 *
 * @tag connector-catalog
 * @tagname connector-catalog
 *
 * @slot loading - Replaces the skeleton.
 * @slot error - Replaces the error message and its button.
 * @slot empty - Replaces the message for a search without results.
 *
 * @csspart search - The search field.
 * @csspart category - The category filter.
 * @csspart count - The number of types that are shown.
 * @csspart list - The list of types.
 * @csspart item - One type, a button.
 * @csspart icon - The icon of a type.
 * @csspart name - The name of a type.
 * @csspart description - The description of a type.
 * @csspart saved-only - The reason why the service can save a type, but not run it.
 * @csspart loading - The container of the skeleton.
 * @csspart empty - The message for a search without results.
 * @csspart error - The container of the error message.
 * @csspart details - The message for developers, on local pages only.
 * @csspart retry - The button of the error message.
 *
 * @cssState loading - The types are being loaded.
 * @cssState ready - The types are shown.
 * @cssState empty - The search has no results.
 * @cssState error - The types could not be loaded.
 *
 * @cssprop --connector-color-primary - Focus rings and the chosen type.
 * @cssprop --connector-color-text - Text.
 * @cssprop --connector-color-background - Background of fields and items.
 * @cssprop --connector-color-border - Borders.
 * @cssprop --connector-font-family - A font stack.
 * @cssprop --connector-border-radius - Corner radius, as a length.
 *
 * @fires {ConnectorSelectEvent} select - The user chose a type: `event.connectorType`.
 * @fires {ConnectorErrorEvent} error - The types could not be loaded: branch on `event.error.code`.
 */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- `properties` declares what the interface has
export class ConnectorCatalogElement extends ReactiveElement {
  static override readonly properties: PropertyDeclarations = {
    kind: { converter: optionalText },
    hostUrl: { converter: optionalText, attribute: 'host-url' },
    types: { converter: json, hasChanged: hasOtherJson },
    selected: { converter: optionalText },
    showUnavailable: { converter: flag, attribute: 'show-unavailable' },
    locale: { converter: optionalText },
  };

  static override readonly shadowRootOptions: ShadowRootInit = { mode: 'open', delegatesFocus: true };
  static override readonly styles = [screenReaderStyles, catalogStyles];

  /** Catalog to request from the host. Default: `input`. */
  declare kind: ComponentKind | undefined;
  /**
   * Base URL of your host's routes: `/api`. Its catalog route is requested unless `types` is set.
   */
  declare hostUrl: string | undefined;
  /** The connector types to choose from. */
  declare types: CatalogType[] | undefined;
  /** `type_id` of the type that is marked as chosen. */
  declare selected: string | undefined;
  /**
   * Also shows the types that the service can save, but not run, each with the reason. Default:
   * `false`.
   */
  declare showUnavailable: boolean;
  /** Language of the texts, as a BCP 47 tag. Default: the closest `lang` attribute. */
  declare locale: string | undefined;

  readonly #states = createStates<'loading' | 'ready' | 'empty' | 'error'>(this);
  #view: CatalogView | undefined;
  #content: CatalogContent = { phase: 'waiting' };
  #filtered: { all: readonly CatalogType[]; content: CatalogContent } | undefined;
  /** The latest request. Responses to others are ignored. */
  #request = '';
  #missingTimer: ReturnType<typeof setTimeout> | undefined;
  #removeListener: (() => void) | undefined;

  constructor() {
    super();
    this.showUnavailable = false;
  }

  /** Requests the types again. */
  reload(): void {
    this.#request = '';
    this.#content = { phase: 'waiting' };
    this.requestUpdate();
  }

  /** Focuses the search field. */
  override focus(options?: FocusOptions): void {
    this.#view?.focus(options);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#removeListener = onTextChange(() => this.#show());
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#missingTimer);
    this.#removeListener?.();
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
    clearTimeout(this.#missingTimer);
    if (this.types !== undefined) this.#setTypes(this.types);
    else if (this.hostUrl !== undefined) void this.#fetchTypes(this.hostUrl, this.kind ?? 'input');
    else this.#missingTimer = setTimeout(() => this.#reportMissing(), MISSING_AFTER);
    this.#show();
  }

  #reportMissing(): void {
    const message = 'host-url is not set: set it to the path of the host\u2019s routes, or set the property types';
    this.#fail(new ConnectorFrameError('invalid_options', message));
    this.#show();
  }

  #setTypes(types: unknown): void {
    this.#request = '';
    if (Array.isArray(types) && types.every(isType)) this.#content = { phase: 'ready', types };
    else this.#fail(new ConnectorFrameError('invalid_options', 'types is not a list of connector types'));
  }

  async #fetchTypes(hostUrl: string, kind: string): Promise<void> {
    const request = `${kind} ${hostUrl}`;
    if (this.#request === request) return;
    this.#request = request;
    this.#content = { phase: 'waiting' };
    const result = await fetchTypes(hostUrl, kind).catch((error: unknown) => error);
    if (this.#request !== request || this.types !== undefined) return;
    if (Array.isArray(result)) this.#content = { phase: 'ready', types: result };
    else this.#fail(result);
    this.#show();
  }

  #fail(error: unknown): void {
    const failure =
      error instanceof ConnectorFrameError ? error : new ConnectorFrameError('load_failed', String(error));
    // Reported once, not on each update.
    if (this.#content.phase === 'error' && this.#content.error.message === failure.message) return;
    this.#content = { phase: 'error', error: failure };
    logError(this, failure, false);
    this.dispatchEvent(new ConnectorErrorEvent(failure));
  }

  /** The content without the types that can't run. The same list for the same types. */
  #available(): CatalogContent {
    if (this.#content.phase !== 'ready') return this.#content;
    const { types } = this.#content;
    if (this.#filtered?.all !== types) {
      const shown = types.filter(({ runtime }) => runtime !== false);
      this.#filtered = { all: types, content: { phase: 'ready', types: shown } };
    }
    return this.#filtered.content;
  }

  #show(): void {
    const { phase } = this.#content;
    this.#states.set('loading', phase === 'waiting');
    this.#states.set('ready', phase === 'ready');
    this.#states.set('error', phase === 'error');
    const content = this.showUnavailable ? this.#content : this.#available();
    this.#view?.show(content, this.selected, messagesFor(this, english));
  }
}

// The types of the events, which a class can't declare.
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
