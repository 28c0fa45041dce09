import type { ConnectorFrameError } from './connector-frame-error.js';
import type { ConfigMetaOverridesOf, ConnectorTypeId } from './connector-types.js';
import type { Appearance, ComponentKind, SavedConnector } from './protocol/messages.js';

/** What `fetchSession` resolves to: the answer of the host's session route, in camel case. */
export interface ConnectorFrameSession {
  sessionToken: string;
  /** Needed when the option `organizationId` is not given. */
  organizationId?: string | undefined;
  /** RFC 3339. */
  expiresAt?: string | undefined;
}

/** An alias and no interface: its fields can be read by name. */
type CommonOptions<TypeId extends string> = {
  /** The element the frame is appended to, or a CSS selector of it. */
  container: HTMLElement | string;
  /** Which catalog the connector belongs to. */
  kind: ComponentKind;
  /** Slug of the connector's type, `type_id` in the catalog: `okta-systemlog`. */
  typeId: TypeId;
  /** Edits that connector. Left out: creates a new one. */
  existingId?: string | undefined;
  /** Title in the form's header and of the frame. Default: the type's name. */
  displayName?: string | undefined;
  /** Name of the created connector. Default: the type's name and a unique suffix; on edit, the present name stays. */
  name?: string | undefined;
  /** Default: the type's description; on edit, the present one stays. */
  description?: string | undefined;
  /** Shows a name input, prefilled with `name`. Default: false. */
  isNameEditable?: boolean | undefined;
  /** Shows a description input, prefilled with `description`. Default: false. */
  isDescriptionEditable?: boolean | undefined;
  /** Theming tokens. Applied once: to change them, destroy the frame and make a new one. */
  appearance?: Appearance | undefined;
  /** Addresses of style sheets on your origin that replace the form's own. Secret fields stay out of their reach. */
  stylesheets?: string[] | undefined;
  /** Your words for the type's fields. */
  configMetaOverrides?: ConfigMetaOverridesOf<TypeId> | undefined;
  /** Shows a switch for synthetic data. Keep it off in production. Default: false. */
  synthetic?: boolean | undefined;
  /** Address of the form, with its path and no query. Default: the service this package was built for. */
  frameOrigin?: string | undefined;
  /** Base address of the API; the form refuses any but its own service's. Default: as for `frameOrigin`. */
  apiBase?: string | undefined;
  /** Milliseconds until a frame that does not answer is reported. A later answer still works. Default: 15,000. */
  loadTimeout?: number | undefined;
  /** The form is shown. Again after the frame had to load anew, for example because its container was moved. */
  onReady?: (() => void) | undefined;
  /** The connector was saved. */
  onSave?: ((connector: SavedConnector) => void) | undefined;
  /** The person canceled. */
  onCancel?: (() => void) | undefined;
  /** Anything failed. `message` is `error.message`; branch on `error.code`. Left out: failures go to the console. */
  onError?: ((message: string, error: ConnectorFrameError) => void) | undefined;
};

/** A session made beforehand, or a function that makes one whenever the form needs it. */
type SessionOptions =
  | {
      /** Short-lived token from the host's session route. */
      sessionToken: string;
      /** Team organization the token was made for. */
      organizationId: string;
      /** Makes a fresh session when `sessionToken` is about to expire. */
      fetchSession?: (() => Promise<ConnectorFrameSession>) | undefined;
    }
  | {
      /** A first token, if there is one already. */
      sessionToken?: string | undefined;
      /** Default: what `fetchSession` says. */
      organizationId?: string | undefined;
      /** Makes a session: called at once without `sessionToken`, and whenever the form needs a fresh one. */
      fetchSession: () => Promise<ConnectorFrameSession>;
    };

/** Options of {@link createConnectorFrame}. They are read once, the callbacks when they are called. */
export type ConnectorFrameOptions<TypeId extends ConnectorTypeId = ConnectorTypeId> = CommonOptions<TypeId> &
  SessionOptions;

/** A mounted frame. */
export interface ConnectorFrame {
  /** Removes the frame, its listeners and timers, and forgets the token. No callback runs afterwards. Safe to call twice. */
  destroy(): void;
}
