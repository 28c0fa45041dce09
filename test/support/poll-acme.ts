import type { ConnectorConfig, ConnectorTypeData, PollDefinition, PollStream } from '@connector-frame/catalog';
import { onTestFinished } from 'vitest';
import { createPollInput } from '../../packages/engine/src/connectors/poll/poll-input.js';
import { Driver, leadTo, START, TestClock } from './poll-driver.js';
import { startVendor, type Received, type Reply } from './vendor.js';

/** Where Acme is, a vendor that is made up: each test changes in its definition what it is about. */
export const ORIGIN = 'https://api.acme.example';
export const stream: PollStream = {
  name: 'events',
  path: '/events',
  query: { since: '{{since}}' },
  page_size: 2,
  records: { path: '/data', id: '/id', time: '/at', time_form: 'milliseconds' },
  pagination: { kind: 'none' },
  cursor: { kind: 'time', start: '/settings/start', overlap_seconds: 60 },
};
const poll: PollDefinition = {
  verified: 'contract',
  documentation: ['https://acme.example/docs'],
  base_url: ORIGIN,
  authentication: { kind: 'bearer', secret: '/secrets/token' },
  streams: [stream],
  check: { path: '/events', records: { path: '/data' } },
};
export const config: ConnectorConfig = {
  settings: { start: '2026-03-10T11:00:00Z' },
  secrets: { token: 'canary-token' },
};
const type: ConnectorTypeData = {
  type_id: 'acme-events',
  kind: 'input',
  name: 'Acme',
  description: 'Events.',
  category: 'SaaS',
  vendor: 'Acme',
  version: '1.0.0',
  evidence: 'docs',
  config: {
    settings: { type: 'object', properties: {}, additionalProperties: false },
    secrets: { type: 'object', properties: {}, additionalProperties: false },
  },
};

/** Records `{ id, n, at }`, a tenth of a second apart, from a minute ago on. */
export const records = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({
    id: `i${from + index}`,
    n: from + index,
    at: START - 60_000 + (from + index) * 100,
  }));
export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

interface Opened {
  driver: Driver;
  clock: TestClock;
  requests: readonly Received[];
  elsewhere: string[];
}

/** Reads from a server that answers for Acme, with these changes of the definition and the configuration, until the test ends. */
export async function open(
  definition: Partial<PollDefinition>,
  respond: (query: URLSearchParams, request: Received) => Reply,
  given: Partial<ConnectorConfig> = {},
): Promise<Opened> {
  const server = await startVendor((request) => respond(new URL(request.url, ORIGIN).searchParams, request));
  onTestFinished(() => server.close());
  const clock = new TestClock();
  const elsewhere: string[] = [];
  const egress = leadTo(server.origin, [ORIGIN], (origin) => elsewhere.push(origin));
  const create = createPollInput({ ...poll, ...definition });
  const driver = new Driver(() => {
    const input = create({ ...config, ...given }, { type, egress, clock });
    if (input.kind !== 'pages') throw new Error('no pages');
    return input;
  });
  return { driver, clock, requests: server.requests, elsewhere };
}

export const streamed = (changes: Partial<PollStream>): Partial<PollDefinition> => ({
  streams: [{ ...stream, ...changes }],
});
export const data = (...items: unknown[]): Reply => ({ body: { data: items } });
