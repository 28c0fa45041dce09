import type { ConnectorConfig, ConnectorTypeData, PollDefinition, PollStream } from '@connector-frame/catalog';
import { onTestFinished } from 'vitest';
import { createPollInput } from '../../packages/connectors/src/_shared/poll/input.js';
import { Driver, leadTo, START, TestClock } from './poll-driver.js';
import { startVendor, type Received, type Reply } from './vendor.js';

/**
 * API origin of Acme, a fictional vendor. Each test overrides the part of the definition that it is
 * about.
 */
export const ORIGIN = 'https://api.acme.example';
/** Origin of Acme's files. */
export const FILES = 'https://files.storage.example';
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
  verified: 'documented',
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

/** Returns records `{ id, n, at }`, 100 ms apart, starting one minute before `START`. */
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

/**
 * Opens an input that reads from an Acme server, with these changes to the definition and the
 * configuration. The server is closed when the test finishes.
 */
export async function open(
  definition: Partial<PollDefinition>,
  respond: (query: URLSearchParams, request: Received) => Reply,
  given: Partial<ConnectorConfig> = {},
): Promise<Opened> {
  const clock = new TestClock();
  const server = await startVendor((request) => {
    const reply = respond(new URL(request.url, ORIGIN).searchParams, request);
    return { ...reply, headers: { date: new Date(clock.ms).toUTCString(), ...reply.headers } };
  });
  onTestFinished(() => server.close());
  const elsewhere: string[] = [];
  const egress = leadTo(server.origin, [ORIGIN, FILES], (origin) => elsewhere.push(origin));
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
