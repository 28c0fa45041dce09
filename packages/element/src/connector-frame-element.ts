import { adoptStyles, type PropertyDeclarations, type PropertyValues, ReactiveElement } from '@lit/reactive-element';
import { declareProperties, elementOptions, initialOptions, type ElementOptions } from './element-options.js';
import { elementStyles } from './element-styles.js';
import { createView } from './element-views.js';
import type { ConnectorFrameEventMap } from './events/event-map.js';
import { FrameController } from './frame-controller.js';
import { describeError } from './messages/describe-error.js';
import { en } from './messages/en.js';
import { messagesFor, onTextChange } from './messages/registry.js';
import { PreloadController } from './preload-controller.js';
import { screenReaderStyles } from './screen-reader-styles.js';

type Listener<K extends keyof ConnectorFrameEventMap> = (
  this: ConnectorFrameElement,
  event: ConnectorFrameEventMap[K],
) => unknown;

/**
 * A cross-origin connector form. It is mounted once the element is in the document and has `kind`,
 * `typeId` and a session: `hostUrl` with `tenantId`, `fetchSession`, or `sessionToken` with
 * `organizationId`. Until then, the element shows its own content.
 *
 * A change of `kind`, `typeId`, `existingId`, `organizationId`, `tenantId` or an address mounts
 * another form; if there is unsaved input, the form asks the user first. A new `sessionToken` is
 * sent to the mounted form. Other options are read when a form is mounted.
 *
 * @tag connector-frame
 * @tagname connector-frame
 *
 * @slot - Shown before the element is registered, and while an option is missing. A type without a session is reported after three seconds.
 * @slot loading - Replaces the skeleton.
 * @slot error - Replaces the error message and its button.
 *
 * @csspart frame - The container of the form.
 * @csspart loading - The container of the skeleton.
 * @csspart error - The container of the error message.
 * @csspart details - The message for developers, on local pages only.
 * @csspart retry - The button of the error message.
 *
 * @cssState loading - The form is not shown yet.
 * @cssState ready - The form is shown.
 * @cssState error - The form failed. The frame or the error part shows the cause.
 * @cssState saved - The form has saved its connector.
 *
 * @cssprop --connector-color-primary - Primary buttons and focus rings. All of these are read at mount; `appearance` takes precedence.
 * @cssprop --connector-color-text - Body text. Muted shades are derived from it.
 * @cssprop --connector-color-background - Background of the form.
 * @cssprop --connector-color-border - Borders.
 * @cssprop --connector-font-family - A font stack.
 * @cssprop --connector-border-radius - Corner radius, as a length.
 *
 * @fires {ConnectorReadyEvent} ready - The form is shown. Repeated after the form had to reload.
 * @fires {ConnectorSaveEvent} save - The connector was saved: `event.connector`.
 * @fires {ConnectorCancelEvent} cancel - The user canceled. Unless prevented, the `<dialog>` around the element is closed.
 * @fires {ConnectorErrorEvent} error - Something failed: branch on `event.error.code`.
 */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- `properties` declares what the interface has
export class ConnectorFrameElement extends ReactiveElement {
  static override readonly properties: PropertyDeclarations = declareProperties(elementOptions);

  static override readonly styles = [screenReaderStyles, elementStyles];

  readonly #frame: FrameController;
  readonly #preload: PreloadController;
  #show: ReturnType<typeof createView> | undefined;
  #removeListener: (() => void) | undefined;

  constructor() {
    super();
    Object.assign(this, initialOptions);
    this.#frame = new FrameController(this, () => this.#render());
    this.#preload = new PreloadController(this, () => this.#frame.phase === 'waiting');
    this.addEventListener('command', this.#handleCommand);
  }

  /** Triggers the form's Save button. */
  save(): void {
    this.#frame.execute('save');
  }

  /** Triggers the form's Test connection button. */
  test(): void {
    this.#frame.execute('test');
  }

  /**
   * Triggers the form's Cancel button. If no form is shown, the element dispatches `cancel` itself.
   */
  cancel(): void {
    this.#frame.execute('cancel');
  }

  /** Mounts a new form without asking the user. Unsaved input is lost. */
  reload(): void {
    this.#frame.mount();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#removeListener = onTextChange(() => this.#render());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#removeListener?.();
  }

  /**
   * Called instead of the disconnected and connected callbacks when `moveBefore` keeps the form.
   */
  connectedMoveCallback(): void {
    // Only its presence matters.
  }

  /** Called when the element is moved to another document, where its style sheets don't apply. */
  adoptedCallback(): void {
    this.#frame.unmount();
    if (this.shadowRoot && this.ownerDocument === document)
      adoptStyles(this.shadowRoot, ConnectorFrameElement.elementStyles);
  }

  protected override createRenderRoot(): HTMLElement | DocumentFragment {
    const root = super.createRenderRoot();
    this.#show = createView(root, () => this.reload());
    return root;
  }

  protected override update(changed: PropertyValues): void {
    super.update(changed);
    this.#render();
  }

  protected override updated(changed: PropertyValues): void {
    this.#frame.sync(changed.size > 0);
  }

  #render(): void {
    const { phase, error } = this.#frame;
    const messages = messagesFor(this, en);
    this.#show?.({ phase, error: error && describeError(error, messages), messages });
    this.#preload.sync();
  }

  readonly #handleCommand = (event: Event): void => {
    const command: unknown = Object(event).command;
    if (command === '--save') this.save();
    else if (command === '--test') this.test();
    else if (command === '--cancel') this.cancel();
    else if (command === '--reload') this.reload();
  };
}

// The types of the properties and events, which a class can't derive.
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- as above
export interface ConnectorFrameElement extends ElementOptions {
  addEventListener<K extends keyof ConnectorFrameEventMap>(
    type: K,
    listener: Listener<K>,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener<K extends keyof ConnectorFrameEventMap>(
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
    'connector-frame': ConnectorFrameElement;
  }
}
