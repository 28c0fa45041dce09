import { expect, it } from 'vitest';
import type { FrameMessage } from '@connector-frame/core/protocol';
import { createChannel, onHostMessage, type Messenger } from './channel.js';

it('posts a failure as one text, with its code', () => {
  const posted: FrameMessage[] = [];
  const channel = createChannel({ post: (message) => posted.push(message) });
  channel.error({ code: 'save_failed', message: 'Not saved', hint: 'Try again.' });
  channel.error({ code: 'offline', message: 'You are offline' });
  const source = 'monad-embed';
  expect(posted).toEqual([
    { source, type: 'error', code: 'save_failed', message: 'Not saved. Try again.' },
    { source, type: 'error', code: 'offline', message: 'You are offline' },
  ]);
});

it('accepts only valid messages from the parent window and its origin', () => {
  const received: unknown[] = [];
  let say: Parameters<Parameters<Messenger['listen']>[0]>[0][] = [];
  const source = new MessageChannel().port1;
  const other = new MessageChannel().port1;
  const origin = 'https://host.test';
  const data = { source: 'monad-embed', type: 'session', sessionToken: 'next' };
  say = [
    { source: other, origin, data },
    { source, origin: 'https://evil.test', data },
    { source, origin, data: { ...data, source: 'other' } },
    { source, origin, data: { ...data, sessionToken: 7 } },
    { source, origin, data: { ...data, type: 'init' } },
    { source, origin: 'https://evil.test', data: { source: 'monad-embed', type: 'command', command: 'save' } },
    { source: other, origin, data: { source: 'monad-embed', type: 'leave' } },
    { source, origin, data: { source: 'monad-embed', type: 'command', command: 'delete' } },
    { source, origin, data },
    { source, origin, data: { source: 'monad-embed', type: 'command', command: 'save' } },
  ];
  onHostMessage(
    (listener) => say.forEach((event) => listener(event)),
    { source, origin },
    (message) => received.push(message),
  );
  expect(received).toEqual([data, { source: 'monad-embed', type: 'command', command: 'save' }]);
});
