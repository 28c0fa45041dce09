import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEgress, type Egress } from '../../packages/engine/src/egress/index.js';
import type { Tester, TesterConfig, TestOutcome } from '../../packages/engine/src/connector-api/index.js';
import { createCertificate, type Certificate } from './certificate.js';
import { undeclaredFields } from './declared-fields.js';
import { listenTcp, type Listener } from './listener.js';
import { encodings, secretsOf } from './secret-texts.js';
import { startVendor, type Received, type Reply } from './vendor.js';

export interface TesterContract {
  /**
   * The tester's name in the registry, which determines the fields it may report:
   * `input:okta-systemlog`.
   */
  type: string;
  /** Returns a tester and a valid configuration for `origin`, an https address. */
  at(origin: string): { tester: Tester; config: TesterConfig };
  /** The vendor's documented responses to that configuration. */
  respond(request: Received): Reply;
  /** Summary of a passed test. */
  summary: string;
  /** A web page with status 200 counts as success, because the response body is ignored. */
  anyPagePasses?: true;
}

const statuses = [200, 201, 204, 400, 401, 403, 404, 405, 409, 410, 418, 422, 429, 500, 503];

/** Defines the behavior of every tester, whichever server it connects to. */
export function runTesterContract(name: string, contract: TesterContract): void {
  /** Runs the test and checks that it does not modify the configuration. */
  async function outcome(origin: string, egress: Egress, signal = new AbortController().signal): Promise<TestOutcome> {
    const { tester, config } = contract.at(origin);
    const before = structuredClone(config);
    const result = await tester(config, { egress, signal });
    expect(config).toEqual(before);
    expect(undeclaredFields(contract.type, result)).toEqual([]);
    return result;
  }

  describe(`${name}: connection test contract`, () => {
    let certificate: Certificate;
    let trusting: Egress;
    const listeners: Listener[] = [];
    beforeAll(() => {
      certificate = createCertificate('127.0.0.1');
      trusting = createEgress({ allow: ['127.0.0.0/8'], ca: certificate.cert, timeoutMs: 5_000 });
    });
    afterAll(() => Promise.all(listeners.map((listener) => listener.close())));

    async function vendor(respond: (request: Received) => Reply): ReturnType<typeof startVendor> {
      const started = await startVendor(respond, certificate);
      listeners.push(started);
      return started;
    }

    test('passes on the documented responses', async () => {
      const server = await vendor((request) => contract.respond(request));
      expect(await outcome(server.origin, trusting)).toEqual({ ok: true, summary: contract.summary });
    });

    test.each([
      [429, 'rate_limited'],
      [500, 'upstream_error'],
      [502, 'upstream_error'],
      [503, 'upstream_error'],
    ] as const)('reports a %i response as %s', async (status, reason) => {
      const server = await vendor(() => ({ status, body: 'busy' }));
      expect(await outcome(server.origin, trusting)).toMatchObject({ ok: false, reason });
    });

    test('rejects an HTML response', async () => {
      const page = '<!doctype html><title>Welcome</title>';
      const server = await vendor(() => ({ headers: { 'content-type': 'text/html' }, body: page }));
      const expected = contract.anyPagePasses ? { ok: true } : { ok: false, reason: 'unexpected_answer' };
      expect(await outcome(server.origin, trusting)).toMatchObject(expected);
    });

    test('rejects an untrusted certificate before sending anything', async () => {
      const server = await vendor((request) => contract.respond(request));
      const egress = createEgress({ allow: ['127.0.0.0/8'] });
      expect(await outcome(server.origin, egress)).toMatchObject({ ok: false, reason: 'tls_failed' });
      expect(server.requests).toEqual([]);
    });

    test('rejects a closed address before connecting', async () => {
      const server = await vendor((request) => contract.respond(request));
      const egress = createEgress({ allow: [] });
      expect(await outcome(server.origin, egress)).toMatchObject({ ok: false, reason: 'egress_refused' });
      expect(server.connections()).toBe(0);
    });

    test('does not follow a redirect to another origin', async () => {
      const other = await vendor((request) => contract.respond(request));
      const server = await vendor(() => ({ status: 307, headers: { location: other.origin } }));
      expect(await outcome(server.origin, trusting)).toMatchObject({ ok: false, reason: 'redirected' });
      expect(other.connections()).toBe(0);
    });

    test('reports a timeout if the server does not respond or the caller aborts', async () => {
      const silent = await listenTcp(() => undefined);
      listeners.push(silent);
      const origin = `https://127.0.0.1:${silent.port}`;
      const hurried = createEgress({ allow: ['127.0.0.0/8'], timeoutMs: 50 });
      expect(await outcome(origin, hurried)).toMatchObject({ ok: false, reason: 'timeout' });
      expect(await outcome(origin, trusting, AbortSignal.abort())).toMatchObject({ ok: false, reason: 'timeout' });
    });

    test('reports a refused connection', async () => {
      const closed = await listenTcp(() => undefined);
      await closed.close();
      const origin = `https://127.0.0.1:${closed.port}`;
      expect(await outcome(origin, trusting)).toMatchObject({ ok: false, reason: 'connect_failed' });
    });

    test.each(statuses)('leaks nothing from a %i response that echoes the request (S21)', async (status) => {
      const server = await vendor((request) => echo(status, request));
      const { config } = contract.at(server.origin);
      const text = JSON.stringify(await outcome(server.origin, trusting));
      for (const secret of secretsOf(config.secrets)) {
        for (const encoded of encodings(secret)) expect(text).not.toContain(encoded);
      }
      expect(text).not.toContain('upstream-canary');
    });
  });
}

/** Returns a response that echoes the request in every text field. */
function echo(status: number, { url, headers, body }: Received): Reply {
  const sent = `upstream-canary ${url} ${JSON.stringify(headers)} ${body}`;
  const words = {
    ok: false,
    error: sent,
    errors: [sent],
    message: sent,
    text: sent,
    errorSummary: sent,
    code: sent,
    version: sent,
  };
  const xml = `<!-- <Error><Code>${sent.replaceAll('<', '')}</Code><Message>${sent.replaceAll('<', '')}</Message></Error> -->`;
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-cs-region': 'upstream-canary' },
    body: JSON.stringify({ ...words, xml }),
  };
}
