import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { outputContext } from '../../../../test/support/output-attempt.js';
import { createEgress } from '@connector-frame/engine/egress';
import { ConnectorError, type JsonValue, type Page, type PageInput } from '@connector-frame/engine/connector-api';
import { createEventStreamInput } from './input.js';
import { readFeed } from './feed.js';

const secrets = {
  client_id: 'canaryclientid000000000000000000',
  client_secret: 'canarysecret0000000000000000000000000000',
};
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** The metadata of an event in the documentation of the Streaming API. */
const event = (offset: number, type = 'UserActivityAuditEvent'): string =>
  `${JSON.stringify({ metadata: { customerIDString: '0123', offset, eventType: type, version: '1.0' }, event: {} })}\r\n`;

interface Falcon {
  origin: string;
  /** Requests of the stream, and the responses that are open. */
  feeds: { url: string; authorization: string | undefined; response: ServerResponse }[];
}

async function startFalcon(
  feedUrl = (origin: string): string => `${origin}/sensors/entities/datafeed/v1/0?appId=acmelogs`,
) {
  const falcon: Falcon = { origin: '', feeds: [] };
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    const { url = '', method } = request;
    const reply = (status: number, body: object): void => void response.writeHead(status).end(JSON.stringify(body));
    if (method === 'POST' && url === '/oauth2/token')
      return reply(201, { access_token: 'canary-token', expires_in: 1799 });
    if (url.startsWith('/sensors/entities/datafeed/v2')) {
      const refreshActiveSessionURL = `${falcon.origin}/sensors/entities/datafeed-actions/v1/0?appId=acmelogs`;
      const sessionToken = { token: 'canary-session', expiration: '2026-03-10T12:30:00Z' };
      const stream = { dataFeedURL: feedUrl(falcon.origin), sessionToken, refreshActiveSessionURL };
      return reply(200, { resources: [{ ...stream, refreshActiveSessionInterval: 1800 }] });
    }
    falcon.feeds.push({ url, authorization: request.headers.authorization, response });
    response.writeHead(200).write('\r\n');
  };
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  falcon.origin = `http://127.0.0.1:${Object(server.address()).port}`;
  return falcon;
}

function inputAt(origin: string): PageInput {
  const create = createEventStreamInput(new Map([['us-1', origin]]));
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const config = { settings: { app_name: 'acmelogs', cloud: 'us-1' }, secrets };
  const input = create(config, outputContext('output:http', egress));
  if (input.kind !== 'pages') throw new Error('no pages');
  return input;
}
const offsetsOf = ({ records }: Page): unknown[] => records.map(({ metadata }) => Object(metadata).offset);

test('reads events while the response lasts, and continues after the last one', async () => {
  const falcon = await startFalcon();
  const stop = new AbortController();
  const pages = inputAt(falcon.origin).pages(undefined, stop.signal)[Symbol.asyncIterator]();
  const first = pages.next();
  await expect.poll(() => falcon.feeds.length).toBe(1);
  const [feed] = falcon.feeds;
  expect([feed?.url, feed?.authorization]).toEqual([
    '/sensors/entities/datafeed/v1/0?appId=acmelogs&whence=2',
    'Token canary-session',
  ]);
  feed?.response.write(event(7) + event(8).slice(0, 20));
  const page = (await first).value;
  expect(page && offsetsOf(page)).toEqual([7]);
  const second = pages.next();
  feed?.response.write(event(8).slice(20));
  feed?.response.end();
  const last = (await second).value;
  expect(last && offsetsOf(last)).toEqual([8]);
  expect((await pages.next()).done).toBe(true);

  const cursor: JsonValue | undefined = last ? last.cursor : undefined;
  const again = inputAt(falcon.origin).pages(cursor, stop.signal)[Symbol.asyncIterator]();
  const next = again.next();
  await expect.poll(() => falcon.feeds.length).toBe(2);
  expect(falcon.feeds[1]?.url).toBe('/sensors/entities/datafeed/v1/0?appId=acmelogs&offset=9');
  stop.abort();
  await expect(next).rejects.toMatchObject({ name: 'AbortError' });
});

test('delivers what came before a connection broke', async () => {
  const falcon = await startFalcon();
  const pages = inputAt(falcon.origin).pages(undefined, new AbortController().signal)[Symbol.asyncIterator]();
  const first = pages.next();
  await expect.poll(() => falcon.feeds.length).toBe(1);
  falcon.feeds[0]?.response.write(event(1));
  const page = (await first).value;
  expect(page && offsetsOf(page)).toEqual([1]);
  const second = pages.next();
  falcon.feeds[0]?.response.destroy();
  await expect(second).rejects.toMatchObject({ code: 'connect_failed', kind: 'retry' });
});

test.each([
  ['another site', 'https://crowdstrike.com.example/feed'],
  ['no TLS', 'http://firehose.crowdstrike.com/feed'],
  ['a closed address', 'http://169.254.169.254/feed'],
  ['nothing', 'feed'],
])('sends no token to %s that the API names', async (_what, address) => {
  const falcon = await startFalcon(() => address);
  const pages = inputAt(falcon.origin).pages(undefined, new AbortController().signal)[Symbol.asyncIterator]();
  const error = await pages.next().catch((each: unknown) => each);
  expect(error instanceof ConnectorError && error.code).toBe('unexpected_answer');
  expect(falcon.feeds).toEqual([]);
});

// The example of https://www.falconpy.io/Service-Collections/Event-Streams.html
test('takes the hosts of CrowdStrike', () => {
  const stream = {
    dataFeedURL: 'https://firehose.us-2.crowdstrike.com/sensors/entities/datafeed/v1/0?appId=a',
    sessionToken: { token: 't' },
    refreshActiveSessionURL: 'https://api.us-2.crowdstrike.com/sensors/entities/datafeed-actions/v1/0?appId=a',
    refreshActiveSessionInterval: 1800,
  };
  expect(readFeed(stream, 'https://api.us-2.crowdstrike.com')).toMatchObject({
    name: '/sensors/entities/datafeed/v1/0',
    refreshMs: 1_620_000,
  });
});
