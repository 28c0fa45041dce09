import { loadCatalog } from '@connector-frame/catalog';
import type { Clock, Egress, Page, PageInput } from '@connector-frame/engine/connector-api';
import { beforeEach, expect, test } from 'vitest';
import { generateServiceAccount } from '../../../../test/support/documented-exchanges.js';
import { connectors } from '../index.js';

const config = {
  settings: { project_id: 'acme-prod-4711', subject_id: 'logs-sub' },
  secrets: { credentials: generateServiceAccount() },
};
const { signal } = new AbortController();

/** Messages that are neither acknowledged nor held, and the requests, as Google documents both. */
let available: string[];
let requests: { verb: string; body: Record<string, unknown> }[];
beforeEach(() => {
  available = ['a', 'b'];
  requests = [];
});

const egress: Egress = {
  connect: () => Promise.reject(new Error('Only HTTP is expected.')),
  fetch(address, init) {
    const url = new URL(address);
    if (url.hostname === 'oauth2.googleapis.com')
      return Promise.resolve(Response.json({ access_token: 'token', expires_in: 3599 }));
    const verb = url.pathname.split(':')[1] ?? '';
    requests.push({ verb, body: JSON.parse(String(init?.body)) });
    if (verb !== 'pull') return Promise.resolve(Response.json({}));
    const messages = available
      .splice(0)
      .map((n) => ({ ackId: `ack-${n}`, message: { data: btoa(`{"n":"${n}"}`), attributes: { source: 'app' } } }));
    return Promise.resolve(Response.json(messages.length > 0 ? { receivedMessages: messages } : {}));
  },
};

/** A clock whose sleepers wait for `wake`. */
class HeldClock implements Clock {
  wake: () => void = () => undefined;
  now = (): number => Date.now();
  sleep = (_ms: number, until?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      this.wake = resolve;
      until?.addEventListener('abort', () => resolve());
    });
}

function open(clock: Clock = new HeldClock()): PageInput {
  const type = loadCatalog().get('input', 'google-cloud-pubsub');
  const input = type && connectors(type).createInput?.(config, { type, egress, clock });
  if (input?.kind !== 'pages') throw new Error('There is no input.');
  return input;
}
async function drain(pages: AsyncIterable<Page>): Promise<Page[]> {
  const all: Page[] = [];
  for await (const page of pages) all.push(page);
  return all;
}
const verbs = (): string[] => requests.map(({ verb }) => verb);

test('acknowledges messages only when the engine asks for more, after it has stored the page', async () => {
  const pages = open().pages(undefined, signal)[Symbol.asyncIterator]();
  expect((await pages.next()).value).toMatchObject({
    records: [
      { n: 'a', attributes: { source: 'app' } },
      { n: 'b', attributes: { source: 'app' } },
    ],
  });
  expect(verbs()).toEqual(['pull', 'modifyAckDeadline']);
  expect((await pages.next()).done).toBe(true);
  expect(verbs()).toEqual(['pull', 'modifyAckDeadline', 'acknowledge', 'pull']);
  expect(requests[2]?.body).toEqual({ ackIds: ['ack-a', 'ack-b'] });
});

test('extends the deadline while the records are on their way', async () => {
  const clock = new HeldClock();
  const pages = open(clock).pages(undefined, signal)[Symbol.asyncIterator]();
  await pages.next();
  clock.wake();
  await expect.poll(verbs).toEqual(['pull', 'modifyAckDeadline', 'modifyAckDeadline']);
  await pages.return?.();
  clock.wake();
  expect(verbs()).not.toContain('acknowledge');
});

test('acknowledges a stored page after a restart, and one that was not stored never', async () => {
  let stored: Page | undefined;
  for await (const page of open().pages(undefined, signal)) {
    const kept: Page = JSON.parse(JSON.stringify(page));
    stored = kept;
    break;
  }
  expect(verbs()).not.toContain('acknowledge');
  const next = open();
  expect(await drain(next.pages(stored?.cursor, signal))).toEqual([]);
  expect(requests.filter(({ verb }) => verb === 'acknowledge').map(({ body }) => body)).toEqual([
    { ackIds: ['ack-a', 'ack-b'] },
  ]);
  expect(await drain(next.pages(stored?.cursor, signal))).toEqual([]);
  expect(verbs().filter((verb) => verb === 'acknowledge')).toHaveLength(1);
});
