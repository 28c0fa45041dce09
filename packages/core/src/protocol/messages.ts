/** The messages: constants, and one tagged union per direction. What travels when is told in `../protocol.ts`. */

/** Version spoken by this package; sent in `ready` and `init`. */
export const PROTOCOL_VERSION = 1;

/** Tag on every message. It filters noise; trust comes from origin and window. */
export const MESSAGE_SOURCE = 'monad-embed';

/** Which catalog a connector belongs to: a data source or a data destination. */
export type ComponentKind = 'input' | 'output';

/** Theming tokens: CSS values, all optional, applied once when the form mounts. */
export interface Appearance {
  /** Primary buttons and focus rings. A color: hex, rgb(), hsl(), oklch() or a name. */
  colorPrimary?: string;
  /** Body text; muted and faint shades derive from it. */
  colorText?: string;
  colorBackground?: string;
  colorBorder?: string;
  /** A font stack, for example `"Inter", system-ui, sans-serif`. */
  fontFamily?: string;
  /** A number and a unit, for example `10px`. */
  borderRadius?: string;
}

/** Replaces copy of one field. Text, never markup; an empty `name` is ignored, an empty `description` or `placeholder` blanks it. */
export interface FieldOverride {
  name?: string;
  description?: string;
  placeholder?: string;
  children?: Record<string, FieldOverride>;
  discriminator?: { name?: string; description?: string; one_of?: Record<string, FieldOverride> };
}

/** Copy for the type's own field keys. An unknown key is reported once on the frame's console, never thrown. */
export interface ConfigMetaOverrides {
  settings?: Record<string, FieldOverride>;
  secrets?: Record<string, FieldOverride>;
}

/** What the page gets after a save. */
export interface SavedConnector {
  id: string;
  name?: string | undefined;
}

interface Message<T extends string> {
  source: typeof MESSAGE_SOURCE;
  type: T;
}

/** frame -> host: the frame listens; the host answers with `init`. */
export interface ReadyMessage extends Message<'ready'> {
  version: number;
  /** A `loaded` follows once the form is shown. Without it, the host takes `ready` itself for the good news. */
  reportsLoad?: boolean;
  /** The form answers `leave`. Without it, a page that wants to replace or remove the form just does. */
  answersLeave?: boolean;
}

/** frame -> host: the form has loaded and is shown. A load that fails ends in `error` instead. */
export interface LoadedMessage extends Message<'loaded'> {
  /** Name of the product, for the accessible name of the frame. */
  title?: string;
}

/** frame -> host: the content's height in CSS pixels. */
export interface ResizeMessage extends Message<'resize'> {
  height: number;
}

/** frame -> host: the connector was saved. */
export interface SavedMessage extends Message<'saved'> {
  connector: SavedConnector;
}

/** frame -> host: a load, test or save failed. `code` is stable, `message` is for people. */
export interface ErrorMessage extends Message<'error'> {
  message: string;
  code: string;
}

/** frame -> host: the person canceled. */
export interface CancelMessage extends Message<'cancel'> {}

/** frame -> host: the token is about to expire or was refused; what was typed stays. */
export interface SessionRequestMessage extends Message<'session_request'> {}

/** frame -> host: nothing is lost if the form goes now. Answer to `leave`, at once or after the person chose to discard. */
export interface LeftMessage extends Message<'left'> {}

/** host -> frame: everything the form needs. An option that was not given is absent. */
export interface InitMessage extends Message<'init'> {
  version: number;
  sessionToken: string;
  apiBase: string;
  organizationId: string;
  typeId: string;
  kind: ComponentKind;
  displayName?: string;
  name?: string;
  description?: string;
  isNameEditable?: boolean;
  isDescriptionEditable?: boolean;
  existingId?: string;
  synthetic?: boolean;
  appearance?: Appearance;
  stylesheets?: string[];
  configMetaOverrides?: ConfigMetaOverrides;
}

/** host -> frame: a fresh token for the living form. */
export interface SessionMessage extends Message<'session'> {
  sessionToken: string;
  /** RFC 3339. */
  expiresAt?: string | undefined;
}

/** host -> frame: as if the person pressed that button of the form. Where the button is not there, or busy, nothing happens. */
export interface CommandMessage extends Message<'command'> {
  command: FormCommand;
}

/** host -> frame: the page wants to replace or remove the form. It answers `left` once nothing typed would be lost, or never. */
export interface LeaveMessage extends Message<'leave'> {}

/** Buttons of the form that a page may press. */
export type FormCommand = 'save' | 'test' | 'cancel';

/** Every message a frame may send. */
export type FrameMessage =
  | ReadyMessage
  | LoadedMessage
  | ResizeMessage
  | SavedMessage
  | ErrorMessage
  | CancelMessage
  | SessionRequestMessage
  | LeftMessage;

/** Every message a host may send. */
export type HostMessage = InitMessage | SessionMessage | CommandMessage | LeaveMessage;
