import { expect, it } from 'vitest';
import type { FrameMessage } from '@connector-frame/core/protocol';
import { createChannel, onSession, type Messenger } from './channel.js';

it('tells a height when it changed, and that the form is shown once', () => {
  const told: FrameMessage[] = [];
  const channel = createChannel({ post: (message) => told.push(message) });
  for (const height of [100, 100.2, 100.9, 101, 240]) channel.resize(height);
  channel.loaded();
  channel.loaded();
  const source = 'monad-embed';
  expect(told).toEqual([
    { source, type: 'resize', height: 100 },
    { source, type: 'resize', height: 101 },
    { source, type: 'resize', height: 240 },
    { source, type: 'loaded' },
  ]);
});

it('takes a session only from the window and origin it answers to, in the right shape', () => {
  const heard: string[] = [];
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
    { source, origin, data },
  ];
  onSession(
    (listener) => say.forEach((event) => listener(event)),
    { source, origin },
    (token) => heard.push(token),
  );
  expect(heard).toEqual(['next']);
});
