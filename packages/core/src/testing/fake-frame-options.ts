import type { FrameMessage, SavedConnector } from '../protocol/messages.js';

/** A message of the frame without its tag: what a test writes. */
export type FrameReply = FrameMessage extends infer M ? (M extends FrameMessage ? Omit<M, 'source'> : never) : never;

/** What the fake form does by itself. Left out, it behaves: it is ready, loads, and waits for a click on its buttons. */
export interface FakeFrameOptions {
  /** `false`: it never says that it listens. A number: it does so after that many milliseconds. Default: `true`. */
  ready?: boolean | number;
  /** Sent in this order after each `init`. Default: `loaded` and a height. */
  afterInit?: readonly FrameReply[];
  /** What its Save button answers. Default: the edited id or `con_fake`, and the name in its input. */
  saved?: SavedConnector;
  /** What its Fail button answers. Default: `save_failed`. */
  failure?: { code: string; message: string };
  /**
   * What it does when the page wants it to go: `'left'` lets go at once, as with nothing typed; `'ask'` shows the buttons Discard
   * and Keep editing; `'unknown'` behaves as a form from before
   * there were `leave` and `command`. Default: `'left'`.
   */
  leave?: 'left' | 'ask' | 'unknown';
}
