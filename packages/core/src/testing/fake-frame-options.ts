import type { FrameMessage, SavedConnector } from '../protocol/messages.js';

/** A message from the frame, without `source`. */
export type FrameReply = FrameMessage extends infer M ? (M extends FrameMessage ? Omit<M, 'source'> : never) : never;

/** Behavior of a fake form. By default, it sends `ready`, loads, and waits for its buttons. */
export interface FakeFrameOptions {
  /**
   * `false`: never sends `ready`. A number: sends it after that many milliseconds. Default: `true`.
   */
  ready?: boolean | number;
  /** Messages to send after each `init`. Default: `loaded` and `resize`. */
  afterInit?: readonly FrameReply[];
  /**
   * Connector that Save reports. Default: the edited ID or `con_fake`, and the name in the input.
   */
  saved?: SavedConnector;
  /** Error that Fail reports. Default: `save_failed`. */
  failure?: { code: string; message: string };
  /**
   * Reaction to `leave`. `'left'` replies at once, as without input; `'ask'` shows the buttons
   * Discard and Keep editing; `'unknown'` ignores `leave` and `command`, as older forms do.
   * Default: `'left'`.
   */
  leave?: 'left' | 'ask' | 'unknown';
}
