import { adoptStyles, type PropertyDeclarations, type PropertyValues, ReactiveElement } from '@lit/reactive-element';
import type { Appearance, ConfigMetaOverrides, ConnectorFrameSession } from '@connector-frame/core/connect';
import { flag, json, milliseconds, preloading, text } from './converters.js';
import { isOtherJson, isOtherPresence } from './has-changed.js';
import { elementStyles } from './element-styles.js';
import { createView } from './element-views.js';
import type { ConnectorFrameEventMap } from './events/event-map.js';
import { FrameController } from './frame-controller.js';
import type { FrameSettings } from './frame-settings.js';
import { PreloadController } from './preload-controller.js';
import { screenReaderStyles } from './screen-reader-styles.js';

type Listener<K extends keyof ConnectorFrameEventMap> = (
  this: ConnectorFrameElement,
  event: ConnectorFrameEventMap[K],
) => unknown;

/**
 * A connector form of another origin as one tag. It shows the form once it has `kind`, `typeId` and a session:
 * `hostUrl` with `tenantId`, `fetchSession`, or `sessionToken` with `organizationId`; until then, its own content.
 *
 * Another `kind`, `typeId`, `existingId`, `organizationId`, `tenantId` or address shows another form, after the person
 * agreed to lose what they typed; a new `sessionToken` goes to the form that is shown; every other setting is read when
 * the form is mounted.
 *
 * @tag connector-frame
 * @tagname connector-frame
 *
 * @slot - Shown before the element is registered, and while something is missing for a form.
 * @slot loading - In place of the skeleton.
 * @slot error - In place of the message and its button.
 *
 * @csspart frame - Around the form.
 * @csspart loading - Around the skeleton.
 * @csspart error - Around the message that there is no form.
 * @csspart retry - The button of that message.
 *
 * @cssState loading - The form is not there yet.
 * @cssState ready - The form is shown.
 * @cssState error - There is no form; the frame or the error part says why.
 * @cssState saved - This form has saved its connector.
 *
 * @cssprop --connector-color-primary - Primary buttons and focus rings, unless `appearance` says so. Read at mount, as all of them.
 * @cssprop --connector-color-text - Body text; muted shades derive from it.
 * @cssprop --connector-color-background - The form's background.
 * @cssprop --connector-color-border - Borders.
 * @cssprop --connector-font-family - A font stack.
 * @cssprop --connector-border-radius - Corners: a length.
 *
 * @fires {ConnectorReadyEvent} ready - The form is shown. Again after it had to load anew.
 * @fires {ConnectorSaveEvent} save - The connector was saved: `event.connector`.
 * @fires {ConnectorCancelEvent} cancel - The person canceled. Unless prevented, the `<dialog>` around the element is closed.
 * @fires {ConnectorErrorEvent} error - Anything failed: branch on `event.error.code`.
 */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- only gives types to what the class has already
export class ConnectorFrameElement extends ReactiveElement implements FrameSettings {
  static override readonly properties: PropertyDeclarations = {
    kind: { converter: text },
    typeId: { converter: text, attribute: 'type-id' },
    existingId: { converter: text, attribute: 'existing-id' },
    organizationId: { converter: text, attribute: 'organization-id' },
    sessionToken: { converter: text, attribute: 'session-token' },
    fetchSession: { attribute: false, hasChanged: isOtherPresence },
    hostUrl: { converter: text, attribute: 'host-url' },
    tenantId: { converter: text, attribute: 'tenant-id' },
    displayName: { converter: text, attribute: 'display-name' },
    name: { converter: text },
    description: { converter: text },
    isNameEditable: { converter: flag, attribute: 'is-name-editable' },
    isDescriptionEditable: { converter: flag, attribute: 'is-description-editable' },
    appearance: { converter: json, hasChanged: isOtherJson },
    stylesheets: { converter: json, hasChanged: isOtherJson },
    configMetaOverrides: { converter: json, hasChanged: isOtherJson, attribute: 'config-meta-overrides' },
    synthetic: { converter: flag },
    frameOrigin: { converter: text, attribute: 'frame-origin' },
    apiBase: { converter: text, attribute: 'api-base' },
    loadTimeout: { converter: milliseconds, attribute: 'load-timeout' },
    preload: { converter: preloading },
  };

  static override readonly styles = [screenReaderStyles, elementStyles];

  /** Which catalog the connector belongs to. */
  declare kind: 'input' | 'output' | undefined;
  /** Slug of the connector's type: `okta-systemlog`. */
  declare typeId: string | undefined;
  /** Edits that connector. Not given: creates a new one. */
  declare existingId: string | undefined;
  /** Team organization the session was made for. Default: what the session says. */
  declare organizationId: string | undefined;
  /** Short-lived token of your session route. It is never written into the document. */
  declare sessionToken: string | undefined;
  /** Makes a session: at once without `sessionToken`, and whenever the form needs a fresh one. */
  declare fetchSession: (() => Promise<ConnectorFrameSession>) | undefined;
  /** Where your host's routes stand: `/api`. Addresses and sessions are asked there, for `tenantId`. */
  declare hostUrl: string | undefined;
  /** Your own id of the customer, for the host's session route. */
  declare tenantId: string | undefined;
  /** Title of the form. Default: the type's name. */
  declare displayName: string | undefined;
  /** Name of the created connector. Default: the type's name and a unique suffix; on edit, the present name stays. */
  declare name: string | undefined;
  /** Description of the created connector. Default: the type's; on edit, the present one stays. */
  declare description: string | undefined;
  /** Shows an input for the name. */
  declare isNameEditable: boolean;
  /** Shows an input for the description. */
  declare isDescriptionEditable: boolean;
  /** The six theming tokens. One that is not given is taken from its CSS property. */
  declare appearance: Appearance | undefined;
  /** Addresses of style sheets on your origin that replace the form's own. */
  declare stylesheets: string[] | undefined;
  /** Your words for the type's fields. */
  declare configMetaOverrides: ConfigMetaOverrides | undefined;
  /** Shows a switch for synthetic data. Keep it off in production. */
  declare synthetic: boolean;
  /** Address of the form, with its path. Default: what the host says, else the one this package was built for. */
  declare frameOrigin: string | undefined;
  /** Base address of the API. Default: as for `frameOrigin`. */
  declare apiBase: string | undefined;
  /** Milliseconds until a form that does not answer is told as an error. Default: 15,000. */
  declare loadTimeout: number | undefined;
  /** Loads the form's page before there is a form to show. The attribute without a value means `idle`. */
  declare preload: 'hover' | 'focus' | 'idle' | 'none';

  readonly #frame = new FrameController(this);
  #show: ReturnType<typeof createView> | undefined;

  constructor() {
    super();
    this.isNameEditable = false;
    this.isDescriptionEditable = false;
    this.synthetic = false;
    this.preload = 'none';
    this.addController(new PreloadController(this, () => this.#frame.phase === 'waiting'));
    this.addEventListener('command', this.#obey);
  }

  /** Presses the form's Save. */
  save(): void {
    this.#frame.press('save');
  }

  /** Presses the form's Test connection. */
  test(): void {
    this.#frame.press('test');
  }

  /** Presses the form's Cancel. Where no form is shown, the element says `cancel` itself. */
  cancel(): void {
    this.#frame.press('cancel');
  }

  /** Mounts the form anew, without a question. What was typed is lost. */
  reload(): void {
    this.#frame.mount();
  }

  /** Called in place of disconnecting when `moveBefore` keeps the form as it is. */
  connectedMoveCallback(): void {
    // Nothing is to be done; without it the browser would disconnect and connect.
  }

  /** Called when the element goes to another document, which takes its style sheets away. */
  adoptedCallback(): void {
    this.#frame.hostAdopted();
    if (this.shadowRoot && this.ownerDocument === document)
      adoptStyles(this.shadowRoot, ConnectorFrameElement.elementStyles);
  }

  protected override updated(changed: PropertyValues): void {
    this.#frame.sync(changed.size > 0);
  }

  protected override createRenderRoot(): HTMLElement | DocumentFragment {
    const root = super.createRenderRoot();
    this.#show = createView(root, () => this.reload());
    return root;
  }

  protected override update(changed: PropertyValues): void {
    super.update(changed);
    this.#show?.(this.#frame.phase, this.#frame.error?.message);
  }

  readonly #obey = (event: Event): void => {
    const command: unknown = Object(event).command;
    if (command === '--save') this.save();
    else if (command === '--test') this.test();
    else if (command === '--cancel') this.cancel();
    else if (command === '--reload') this.reload();
  };
}

// What a class cannot say of itself: its events have types of their own.
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- as above
export interface ConnectorFrameElement {
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
