import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { toNodeHandler } from '@connector-frame/host/node';
import { serve } from '../../../../test/support/serve.js';
import { createPipelineRoutes } from './create-pipeline-routes.js';

const [apiKey, token] = ['key-canary-4711', 'token-canary-0815'];
const tenants = ['acme', 'globex'].map((id) => ({ id, name: id, organizationId: `org-${id}` }));

/** Fake service: one input of Acme with its pipeline. */
let service: Awaited<ReturnType<typeof serve>>;
let asked: { method: string; path: string; headers: Record<string, unknown>; body: string }[] = [];
let hasPipeline = true;
let failing = 0;
let ingestStatus = 200;
let entries: { sequence: number; time: string; level: string; message: string }[] = [];
let streams: ServerResponse[] = [];
let routes: ReturnType<typeof createPipelineRoutes>;

const json = (response: ServerResponse, answer: unknown, status = 200) =>
  response.writeHead(status).end(JSON.stringify(answer));
const tenantOf = (request: Request) => tenants.find(({ id }) => id === request.headers.get('cookie'));

beforeAll(async () => {
  service = await serve((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const [path = ''] = (request.url ?? '').split('?');
      asked.push({ method: request.method ?? '', path, headers: request.headers, body });
      if (failing > 0) return json(response, { error: 'words of the service' }, failing);
      if (path.endsWith('/logs/stream')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        return streams.push(response);
      }
      if (path === '/ingest/in-1') return json(response, { error: 'words of the service' }, ingestStatus);
      const answers: Record<string, unknown> = {
        '/v1/org-acme/inputs/in-1': {
          id: 'in-1',
          component_of: hasPipeline ? [{ id: 'p-1', enabled: true, input_id: 'in-1', output_ids: ['out-1'] }] : [],
          ingest: { url: `${service.origin}/ingest/in-1`, token },
        },
        '/v2/org-acme/pipelines/p-1/status': hasPipeline && {
          status: 'Erroring',
          ingress: { records: 12, bytes: 1 },
          egress: { records: 10, bytes: 1 },
          errors: 2,
          waiting: 3,
          dropped: 4,
          lost: { records: 5 },
          last_ingested_time: '2026-01-01T00:00:00Z',
          last_error: { time: '2026-01-01T00:00:00Z', code: 'x', message: 'The token is refused.' },
          suspension: { reason: 'quota', message: 'The quota is used up.', until: null },
          nodes: [],
        },
        '/v2/org-acme/pipelines/p-1/metrics': {
          interval_seconds: 10,
          points: [{ ingress: { records: 50 } }, { ingress: { records: 5 } }],
        },
        '/v2/org-acme/pipelines/p-1/logs': { entries },
      };
      const answer = answers[path];
      return answer ? json(response, answer) : json(response, { error: 'words of the service' }, 404);
    });
  });
});
afterAll(() => service.close());
beforeEach(() => {
  [asked, streams, entries] = [[], [], []];
  [hasPipeline, failing, ingestStatus] = [true, 0, 200];
  routes = createPipelineRoutes({ serviceUrl: service.origin, apiKey, tenantOf });
});
afterEach(() => {
  for (const stream of streams) stream.destroy();
  vi.useRealTimers();
});

const site = 'http://localhost:3000';
const get = async (path: string, cookie = 'acme', headers: Record<string, string> = {}) =>
  (await routes(new Request(site + path, { headers: { cookie, ...headers } }))) ?? expect.fail('not its address');
const own = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', cookie: 'acme' };
const post = async (path: string, body: object, headers: Record<string, string> = own) =>
  (await routes(new Request(site + path, { method: 'POST', headers, body: JSON.stringify(body) }))) ??
  expect.fail('not its address');
const mine = 'tenantId=acme&inputId=in-1';
const reads = ['/demo/pipelines', '/demo/pipelines/log', '/demo/pipelines/ingest'];
const writes = ['/demo/pipelines/token', '/demo/pipelines/test-event'];

test('returns a pipeline with its counts, its problem and its rates per second', async () => {
  expect(await (await get(`/demo/pipelines?${mine}`)).json()).toEqual({
    pipelines: {
      'in-1': {
        pipelineId: 'p-1',
        outputId: 'out-1',
        status: 'Erroring',
        received: 12,
        delivered: 10,
        errors: 2,
        waiting: 3,
        dropped: 4,
        lost: 5,
        lastRecordAt: '2026-01-01T00:00:00Z',
        problem: 'The token is refused.',
        suspension: 'The quota is used up.',
        history: [5, 0.5],
      },
    },
  });
});

async function again() {
  asked = [];
  await get(`/demo/pipelines?${mine}`);
  return asked.map(({ path }) => path.split('/').pop());
}

test('a repeated request reads only the status, and the metrics once per interval', async () => {
  // The service's intervals end at multiples of ten seconds; a completed one is available shortly
  // after.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T00:00:04Z') });
  await again();
  vi.setSystemTime(Date.parse('2026-01-01T00:00:11Z'));
  expect(await again()).toEqual(['status']);
  vi.setSystemTime(Date.parse('2026-01-01T00:00:12Z'));
  expect(await again()).toEqual(['status', 'metrics']);
  vi.setSystemTime(Date.parse('2026-01-01T00:00:42Z'));
  expect(await again()).toEqual(['in-1', 'status', 'metrics']);
});

test('returns null for an input whose pipeline was deleted', async () => {
  await get(`/demo/pipelines?${mine}`);
  hasPipeline = false;
  expect(await (await get(`/demo/pipelines?${mine}`)).json()).toEqual({ pipelines: { 'in-1': null } });
});

describe('access', () => {
  test('rejects requests without a session or for another tenant before it calls the service', async () => {
    for (const path of reads) {
      expect((await get(`${path}?${mine}`, '')).status).toBe(401);
      expect((await get(`${path}?${mine}`, 'globex')).status).toBe(403);
    }
    for (const path of writes) {
      const body = { tenantId: 'acme', inputId: 'in-1' };
      expect((await post(path, body, { ...own, cookie: '' })).status).toBe(401);
      expect((await post(path, body, { ...own, cookie: 'globex' })).status).toBe(403);
    }
    expect(asked).toEqual([]);
  });

  test('looks up an input of another tenant in the caller’s organization only', async () => {
    const theirs = 'tenantId=globex&inputId=in-1';
    expect(await (await get(`/demo/pipelines?${theirs}`, 'globex')).json()).toEqual({ pipelines: { 'in-1': null } });
    expect((await get(`/demo/pipelines/ingest?${theirs}`, 'globex')).status).toBe(404);
    expect((await get(`/demo/pipelines/log?${theirs}`, 'globex')).status).toBe(404);
    for (const path of writes) {
      const answer = await post(path, { tenantId: 'globex', inputId: 'in-1' }, { ...own, cookie: 'globex' });
      expect(answer.status).toBe(404);
      expect(await answer.text()).not.toContain(token);
    }
    expect(asked.filter(({ path }) => !path.includes('org-globex'))).toEqual([]);
  });

  test('rejects writes and token requests from other sites, and with GET', async () => {
    for (const path of writes) {
      const body = { tenantId: 'acme', inputId: 'in-1' };
      expect((await post(path, body, { ...own, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect((await post(path, body, { ...own, 'content-type': 'text/plain' })).status).toBe(415);
      expect((await get(`${path}?${mine}`)).status).toBe(405);
    }
    expect(asked).toEqual([]);
  });

  test.each(['', 'inputId=', 'inputId=..', 'inputId=a%2Fb', 'inputId=a&'.repeat(21)])(
    'rejects the query %j',
    async (query) => {
      expect((await get(`/demo/pipelines?tenantId=acme&${query}`)).status).toBe(400);
      expect(asked).toEqual([]);
    },
  );
});

test('responses contain no API key, organization or service message, and the token only on request', async () => {
  const said: string[] = [];
  const collect = async (answer: Response) => said.push(JSON.stringify([...answer.headers]) + (await answer.text()));
  for (const path of ['/demo/pipelines', '/demo/pipelines/ingest']) await collect(await get(`${path}?${mine}`));
  await collect(await post('/demo/pipelines/test-event', { tenantId: 'acme', inputId: 'in-1' }));
  failing = 404;
  for (const path of reads) await collect(await get(`${path}?${mine}`));
  failing = 422;
  for (const path of reads) await collect(await get(`${path}?${mine}`));
  for (const path of writes) await collect(await post(path, { tenantId: 'acme', inputId: 'in-1' }));
  for (const text of said) expect(text).not.toMatch(/canary|org-acme|words of the service/);

  failing = 0;
  const answer = await post('/demo/pipelines/token', { tenantId: 'acme', inputId: 'in-1' });
  expect([await answer.json(), answer.headers.get('cache-control')]).toEqual([{ token }, 'no-store']);
});

const send = () => post('/demo/pipelines/test-event', { tenantId: 'acme', inputId: 'in-1' });

describe('a test event', () => {
  test('is sent to the shown URL with the ingest token', async () => {
    expect((await send()).status).toBe(200);
    const sent = asked.find(({ path }) => path === '/ingest/in-1');
    expect([sent?.method, sent?.headers['authorization']]).toEqual(['POST', `Bearer ${token}`]);
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ test: true });
    expect(JSON.stringify(sent?.headers)).not.toContain(apiKey);
  });

  test.each([
    [409, /no pipeline/],
    [429, /buffer is full/],
    [500, /not accepted/],
  ])('that gets a %i response is reported', async (status, words) => {
    ingestStatus = status;
    const answer = await send();
    expect(answer.status).toBe(502);
    expect(await answer.text()).toMatch(words);
  });
});

const entry = (sequence: number) => ({ sequence, time: '2026-01-01T00:00:00Z', level: 'info', message: 'Hello' });

/** Reads the server-sent events of a response one at a time. */
function events(answer: Response) {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader() ?? expect.fail('no body');
  let text = '';
  return {
    cancel: () => reader.cancel(),
    async next(): Promise<string> {
      while (!text.includes('\n\n')) {
        const { done, value } = await reader.read();
        if (done) return 'the end';
        text += value;
      }
      const [event = ''] = text.split('\n\n');
      text = text.slice(event.length + 2);
      return event;
    },
  };
}
const idOf = (event: string) => /^id: (\d+)$/m.exec(event)?.[1];

describe('the log', () => {
  test('streams the last lines, then new ones, and closes the upstream when the page leaves', async () => {
    entries = [entry(7), entry(8)];
    const answer = await get(`/demo/pipelines/log?${mine}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const stream = events(answer);
    expect(await stream.next()).toBe('retry: 2000');
    expect([idOf(await stream.next()), idOf(await stream.next())]).toEqual(['7', '8']);
    const [upstream] = streams;
    expect(asked.at(-1)?.headers['last-event-id']).toBe('8');
    for (const id of [9, 10]) {
      upstream?.write(`id: ${id}\nevent: entry\ndata: {}\n\n`);
      expect(idOf(await stream.next())).toBe(String(id));
    }
    const closed = new Promise((resolve) => upstream?.once('close', resolve));
    await stream.cancel();
    await closed;
  });

  test('resumes after the Last-Event-ID', async () => {
    entries = [entry(7), entry(8), entry(9)];
    const stream = events(await get(`/demo/pipelines/log?${mine}`, 'acme', { 'last-event-id': '7' }));
    await stream.next();
    expect([idOf(await stream.next()), idOf(await stream.next())]).toEqual(['8', '9']);
    await stream.cancel();
  });

  test('starts at the first line if the log was restarted', async () => {
    entries = [entry(1)];
    const stream = events(await get(`/demo/pipelines/log?${mine}&after=57`));
    await stream.next();
    expect(idOf(await stream.next())).toBe('1');
    await stream.cancel();
  });

  test('over HTTP: sends each line at once, and closes the upstream when the browser disconnects', async () => {
    const handle = toNodeHandler(async (request: Request) => (await routes(request)) ?? new Response());
    const wire = await serve((message, response) => handle(message, response));
    const browser = new AbortController();
    const path = `${wire.origin}/demo/pipelines/log?${mine}`;
    const stream = events(await fetch(path, { headers: { cookie: 'acme' }, signal: browser.signal }));
    await stream.next();
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    streams[0]?.write('id: 1\nevent: entry\ndata: {}\n\n');
    expect(idOf(await stream.next())).toBe('1');
    const closed = new Promise((resolve) => streams[0]?.once('close', resolve));
    browser.abort();
    await closed;
    await wire.close();
  });

  test('ends when the service ends the stream', async () => {
    const stream = events(await get(`/demo/pipelines/log?${mine}`));
    await stream.next();
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    streams[0]?.end();
    expect(await stream.next()).toBe('the end');
  });
});

test('does not handle other paths', async () => {
  expect(await routes(new Request(`${site}/demo/pipelines/`))).toBeUndefined();
});
