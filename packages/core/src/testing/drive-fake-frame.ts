import type { FormCommand, HostMessage, SavedConnector } from '../protocol/messages.js';
import { DRIVER_SOURCE } from './fake-frame-html.js';
import type { FrameReply } from './fake-frame-options.js';

/** Controls a fake form from the host page: simulates the user and the service. */
export interface FakeFrameDriver {
  /** Makes the form send a message. */
  send(reply: FrameReply): void;
  save(connector: SavedConnector): void;
  cancel(): void;
  fail(code: string, message: string): void;
  /** Makes the form request a new session. */
  expireSession(): void;
  /** Simulates that the user agrees to discard the input. */
  leave(): void;
  /** Returns the messages that the form has received, oldest first. */
  received(): Promise<HostMessage[]>;
  /** Returns the commands that the form has received, oldest first. */
  commands(): Promise<FormCommand[]>;
}

/**
 * Controls the fake form in `iframe`, for tests that run inside the page (Vitest browser mode, Web
 * Test Runner). Tests with Playwright can click its buttons instead.
 *
 * @example
 * ```ts
 * const form = driveFakeFrame(document.querySelector('iframe'));
 * form.save({ id: 'con_1', name: 'Okta' });
 * ```
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
