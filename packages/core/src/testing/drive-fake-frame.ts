import type { FormCommand, HostMessage, SavedConnector } from '../protocol/messages.js';
import { DRIVER_SOURCE } from './fake-frame-html.js';
import type { FrameReply } from './fake-frame-options.js';

/** Plays the person and the service behind a fake form, from within the host page. */
export interface FakeFrameDriver {
  /** Makes the form send any message. */
  send(reply: FrameReply): void;
  save(connector: SavedConnector): void;
  cancel(): void;
  fail(code: string, message: string): void;
  /** The form asks for a fresh session. */
  expireSession(): void;
  /** The person agrees to discard what was typed: the form may go. */
  leave(): void;
  /** What the form received from the page so far: `init` first. */
  received(): Promise<HostMessage[]>;
  /** The buttons of the form that the page has pressed so far. */
  commands(): Promise<FormCommand[]>;
}

/**
 * Drives the fake form in `iframe`, for tests that run in the page itself: Vitest browser mode, Web Test Runner.
 * Tests from the outside (Playwright) click its buttons instead.
 */
export function driveFakeFrame(iframe: HTMLIFrameElement): FakeFrameDriver {
  const { origin } = new URL(iframe.src);
  const post = (command: object): void => {
    iframe.contentWindow?.postMessage({ source: DRIVER_SOURCE, ...command }, origin);
  };
  const send = (reply: FrameReply): void => post({ reply });
  const received = (): Promise<HostMessage[]> =>
    new Promise((resolve) => {
      addEventListener('message', function take({ source, data }: MessageEvent) {
        if (source !== iframe.contentWindow || data?.source !== DRIVER_SOURCE) return;
        removeEventListener('message', take);
        resolve(data.received);
      });
      post({});
    });
  return {
    send,
    save: (connector) => send({ type: 'saved', connector }),
    cancel: () => send({ type: 'cancel' }),
    fail: (code, message) => send({ type: 'error', code, message }),
    expireSession: () => send({ type: 'session_request' }),
    leave: () => send({ type: 'left' }),
    received,
    commands: async () =>
      (await received()).flatMap((message) => (message.type === 'command' ? [message.command] : [])),
  };
}
