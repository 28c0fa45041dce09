import { inspect } from 'node:util';
import type { ConnectorConfig } from '@connector-frame/catalog';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectors } from '../../packages/connectors/src/index.js';
import type { CreateOutput, Output } from '../../packages/engine/src/connector-api/index.js';
import { createEgress, type Egress } from '../../packages/engine/src/egress/index.js';
import type { Batch } from '../../packages/engine/src/connector-api/batch.js';
import { createCertificate, type Certificate } from './certificate.js';
import { typeOf } from './declared-fields.js';
import { listenTcp, type Listener } from './listener.js';
import { attempt, noted, numbersIn, outputContext, RECORD_CANARY } from './output-attempt.js';
import { encodings, secretsOf } from './secret-texts.js';
import { startVendor, type Received, type Reply, type Vendor } from './vendor.js';

export interface OutputContract {
  /** Name in the registry: `output:http`. */
  type: string;
  /** Returns the factory and a valid configuration for `origin`, an https address. */
  at(origin: string): { create: CreateOutput; config: ConnectorConfig };
  /** Returns the documented response to a request that was fully accepted. */
  accept(request: Received): Reply;
  /**
   * Returns the field `n` of the records in a request; default: any in its body as JSON, also
   * gzipped.
   */
  numbers?(request: Received): number[];
  /** Returns what a retried request must repeat; default: method, URL, body, `Idempotency-Key`. */
  identity?(request: Received): unknown;
  /** A web page with status 200 counts as success, because the response body is ignored. */
  anyPagePasses?: true;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Defines the behavior of every output that uses HTTP, whichever server it writes to. */
export function runOutputContract(name: string, contract: OutputContract): void {
  const numbers = contract.numbers ?? numbersIn;
  const identity =
    contract.identity ??
    (({ method, url, bytes, headers }: Received): unknown => [
      method,
      url,
      bytes.toString('base64'),
      headers['idempotency-key'],
    ]);

  describe(`${name}: output contract`, () => {
    let certificate: Certificate;
    let trusting: Egress;
    const listeners: Listener[] = [];
    beforeAll(() => {
      certificate = createCertificate('127.0.0.1');
      trusting = createEgress({ allow: ['127.0.0.0/8'], ca: certificate.cert });
    });
    afterAll(async () => {
      trusting.close?.();
      await Promise.all(listeners.map((listener) => listener.close()));
    });

    async function vendor(respond: (request: Received) => Reply): Promise<Vendor> {
      const started = await startVendor(respond, certificate);
      listeners.push(started);
      return started;
    }
    function outputAt(origin: string, egress = trusting): Output {
      const { create, config } = contract.at(origin);
      const before = structuredClone(config);
      const output = create(config, outputContext(contract.type, egress));
      expect(config).toEqual(before);
      return output;
    }
    /** Responds to the first `times` requests with `reply`, and to the others as documented. */
    async function failing(reply: Reply, times = 1): Promise<{ server: Vendor; taken: () => Received[] }> {
      const taken: Received[] = [];
      let left = times;
      const server = await vendor((request) => {
        left -= 1;
        if (left >= 0) return reply;
        taken.push(request);
        return contract.accept(request);
      });
      return { server, taken: () => taken };
    }
    /** Retries as the runner does, until all records are written. */
    async function deliver(output: Output, batch: Batch): Promise<void> {
      let rest = batch;
      for (let tries = 0; tries < 10; tries += 1) {
        const { failure, written, rejected } = await attempt(output, rest);
        expect(rejected).toEqual([]);
        if (!failure) return;
        rest = rest.pick(
          [...rest.records.entries()].flatMap(([at, { n }]) => (written.includes(Number(n)) ? [] : [at])),
        );
      }
      throw new Error('It was never written.');
    }

    test('is registered', () => {
      expect(connectors(typeOf(contract.type)).createOutput).toBeTypeOf('function');
    });

    test('writes all records and reports them as written', async () => {
      const server = await vendor((request) => contract.accept(request));
      const output = outputAt(server.origin);
      expect(await attempt(output, noted(5))).toEqual({ written: upTo(5), rejected: [] });
      expect(await attempt(output, noted(3, 5))).toEqual({ written: [5, 6, 7], rejected: [] });
      expect(server.requests.flatMap(numbers)).toEqual(upTo(8));
      expect(server.connections()).toBe(1);
      await output.close?.();
    });

    test.each([429, 503])('throws Throttled with the delay of Retry-After for %i', async (status) => {
      const { server } = await failing({ status, headers: { 'retry-after': '7' }, body: 'busy' });
      const { failure } = await attempt(outputAt(server.origin), noted(3));
      expect(failure).toMatchObject({ kind: 'throttled', afterMs: 7_000 });
    });

    const faults: Reply[] = [
      ...[500, 502, 503, 504].map((status) => ({ status, body: 'broken' })),
      { status: 429, headers: { 'retry-after': '1' } },
      { fault: 'drop' },
    ];
    test.each(faults)('retries after %j with the same ids and loses nothing', async (reply) => {
      const { server, taken } = await failing(reply, 2);
      const output = outputAt(server.origin);
      const { failure } = await attempt(output, noted(4));
      expect(failure).toMatchObject({ kind: reply.status === 429 ? 'throttled' : 'retry' });
      await deliver(output, noted(4));
      expect(taken().flatMap(numbers)).toEqual(upTo(4));
    });

    test('treats a truncated response as a failure', async () => {
      let broken = true;
      const server = await vendor((request) => ({
        ...contract.accept(request),
        ...(broken && { status: 200, fault: 'half' }),
      }));
      const output = outputAt(server.origin);
      const { failure, written } = await attempt(output, noted(2));
      expect(written).toEqual([]);
      expect(failure).toMatchObject({ kind: 'retry' });
      broken = false;
      await deliver(output, noted(2));
      expect(new Set(server.requests.flatMap(numbers))).toEqual(new Set(upTo(2)));
    });

    test('sends the same idempotency id when a batch is retried', async () => {
      const server = await vendor((request) => contract.accept(request));
      await attempt(outputAt(server.origin), noted(3));
      const first = server.requests.map(identity);
      await attempt(outputAt(server.origin), noted(3));
      expect(server.requests.map(identity)).toEqual([...first, ...first]);
      await attempt(outputAt(server.origin), noted(3, 10));
      expect(server.requests.map(identity).slice(2 * first.length)).not.toEqual(first);
    });

    test.each([401, 403])('%i is a permanent failure with our own message', async (status) => {
      const { server } = await failing({ status, body: 'go away' }, 10);
      const { failure } = await attempt(outputAt(server.origin), noted(2));
      expect(failure).toMatchObject({ kind: 'permanent', message: expect.stringMatching(/^[A-Z].{20,}\.$/) });
      expect(failure?.message).not.toContain('go away');
    });

    test('rejects a closed address before sending anything', async () => {
      const server = await vendor((request) => contract.accept(request));
      const { failure } = await attempt(outputAt(server.origin, createEgress({ allow: [] })), noted(1));
      expect(failure).toMatchObject({ code: 'egress_refused', kind: 'permanent' });
      expect(server.connections()).toBe(0);
    });

    test('rejects an untrusted certificate before sending anything', async () => {
      const server = await vendor((request) => contract.accept(request));
      const { failure } = await attempt(outputAt(server.origin, createEgress({ allow: ['127.0.0.0/8'] })), noted(1));
      expect(failure).toMatchObject({ code: 'tls_failed' });
      expect(server.requests).toEqual([]);
    });

    test('a redirect to another site is not followed', async () => {
      const other = await vendor((request) => contract.accept(request));
      const { server } = await failing({ status: 307, headers: { location: `${other.origin}/` } });
      expect((await attempt(outputAt(server.origin), noted(1))).failure).toMatchObject({ kind: 'permanent' });
      expect(other.connections()).toBe(0);
    });

    test('retries a refused connection', async () => {
      const closed = await listenTcp(() => undefined);
      await closed.close();
      const { failure } = await attempt(outputAt(`https://127.0.0.1:${closed.port}`), noted(1));
      expect(failure).toMatchObject({ code: 'connect_failed', kind: 'retry' });
    });

    test('rejects an HTML response', async () => {
      const page = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Welcome</title>' };
      const server = await vendor(() => page);
      const { failure, written } = await attempt(outputAt(server.origin), noted(2));
      expect(written).toEqual(contract.anyPagePasses ? upTo(2) : []);
      expect(failure === undefined).toBe(contract.anyPagePasses === true);
    });

    test('aborts a hanging write when its signal aborts', async () => {
      const server = await vendor(() => ({ fault: 'hang' }));
      const stop = new AbortController();
      const writing = attempt(outputAt(server.origin), noted(1), stop.signal).then(
        ({ written }) => written,
        () => [],
      );
      await expect.poll(() => server.requests.length).toBeGreaterThan(0);
      const stoppedAt = Date.now();
      stop.abort();
      expect(await writing).toEqual([]);
      expect(Date.now() - stoppedAt).toBeLessThan(2_000);
    });

    test.each([200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 415, 418, 422, 429, 500, 503])(
      'leaks nothing from a %i response that echoes the request',
      async (status) => {
        const server = await vendor((request) => echo(status, request));
        const { config } = contract.at(server.origin);
        const { failure, rejected, error } = await attempt(outputAt(server.origin), noted(3));
        const text = JSON.stringify([failure, rejected]) + inspect(error, { depth: 10, showHidden: true });
        for (const secret of [...secretsOf(config.secrets), RECORD_CANARY, 'upstream-canary'])
          for (const encoded of encodings(secret)) expect(text).not.toContain(encoded);
      },
    );
  });
}

/** Returns a response that echoes the request in every text field. */
function echo(status: number, { url, headers, body }: Received): Reply {
  const sent = `upstream-canary ${url} ${JSON.stringify(headers)} ${body}`;
  const error = { type: sent, reason: sent, caused_by: { type: sent, reason: sent } };
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-upstream': 'upstream-canary' },
    body: {
      ok: false,
      errors: true,
      error: status % 2 === 0 ? sent : error,
      message: sent,
      text: sent,
      code: sent,
      items: [0, 1, 2].map(() => ({ create: { status, error }, index: { status, error } })),
    },
  };
}
