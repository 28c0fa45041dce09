/**
 * Messages between the host page and the form: constants, and a tagged union for each direction.
 * `../protocol.ts` documents when they are sent.
 */
import type { formOptions, OptionValue, RequiredName } from '../options/option-table.js';

export type {
  Appearance,
  ComponentKind,
  ConfigMetaOverrides,
  DiscriminatorMetaOverride,
  FieldMetaOverride,
  SavedConnector,
} from '../options/option-values.js';

/** Version of the protocol. Sent in `ready` and `init`. */
export const PROTOCOL_VERSION = 1;

/**
 * Tag of every message. It separates them from other messages; trust is based on origin and window.
 */
export const PROTOCOL_SOURCE = 'monad-embed';

type FormOptions = typeof formOptions;

/** The options in `init`. An option that the page does not set is absent. */
export type InitOptions = {
  [Name in keyof Pick<FormOptions, RequiredName<FormOptions>>]: OptionValue<FormOptions[Name]>;
} & {
  [Name in keyof Omit<FormOptions, RequiredName<FormOptions>>]?: OptionValue<FormOptions[Name]>;
};

interface Message<T extends string> {
  source: typeof PROTOCOL_SOURCE;
  type: T;
}

/** Frame to host: the form is listening. The host replies with `init`. */
export interface ReadyMessage extends Message<'ready'> {
  version: number;
  /** The form sends `loaded` once it is shown. If absent, the host treats `ready` as `loaded`. */
  reportsLoad?: boolean;
  /** The form replies to `leave`. If absent, the host replaces or removes it without waiting. */
  answersLeave?: boolean;
}

/** Frame to host: the form has loaded and is shown. If loading fails, it sends `error` instead. */
export interface LoadedMessage extends Message<'loaded'> {
  /** Name of the product, used as the accessible name of the frame. */
  title?: string;
}

/** Frame to host: height of the content in CSS pixels. */
export interface ResizeMessage extends Message<'resize'> {
  height: number;
}

/** Frame to host: the connector was saved. */
export interface SavedMessage extends Message<'saved'> {
  /** Forms of other services send `null` for a connector without a name. */
  connector: { id: string; name?: string | null | undefined };
}

/** Frame to host: loading, testing or saving failed. `code` is stable; `message` is for display. */
export interface ErrorMessage extends Message<'error'> {
  message: string;
  /** Forms of other services send none. The host page then receives `frame_error`. */
  code?: string | null | undefined;
}

/** Frame to host: the user canceled. */
export interface CancelMessage extends Message<'cancel'> {}

/** Frame to host: the token expires soon or was rejected. The form keeps its input. */
export interface SessionRequestMessage extends Message<'session_request'> {}

/**
 * Frame to host: whether the form has input that a reload would lose. Sent when the first value
 * changes, and when everything is saved or discarded; undoing a change sends nothing.
 */
export interface DirtyMessage extends Message<'dirty'> {
  dirty: boolean;
}

/**
 * Frame to host: the form can be removed without losing input. Reply to `leave`, sent at once or
 * after the user chose to discard the input.
 */
export interface LeftMessage extends Message<'left'> {}

/** Host to frame: the options of the form. */
export interface InitMessage extends Message<'init'>, InitOptions {
  version: number;
}

/** Host to frame: a new token for the mounted form. */
export interface SessionMessage extends Message<'session'> {
  sessionToken: string;
  /** Expiry time in RFC 3339 format. */
  expiresAt?: string | undefined;
}

/**
 * Host to frame: triggers a button of the form. No effect if the form does not show the button, or
 * is busy.
 */
export interface CommandMessage extends Message<'command'> {
  command: FormCommand;
}

/**
 * Host to frame: the page is about to replace or remove the form. The form replies `left` once no
 * input would be lost, or never.
 */
export interface LeaveMessage extends Message<'leave'> {}

/** Buttons of the form that a page can trigger. */
export type FormCommand = 'save' | 'test' | 'cancel';

/** Any message from the frame. */
export type FrameMessage =
  | ReadyMessage
  | LoadedMessage
  | ResizeMessage
  | SavedMessage
  | ErrorMessage
  | CancelMessage
  | SessionRequestMessage
  | DirtyMessage
  | LeftMessage;

/** Any message from the host page. */
export type HostMessage = InitMessage | SessionMessage | CommandMessage | LeaveMessage;
