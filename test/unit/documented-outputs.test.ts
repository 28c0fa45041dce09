import { loadCatalog } from '@connector-frame/catalog';
import { validateConfig } from '@connector-frame/catalog/validate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectors } from '../../packages/connectors/src/index.js';
import { ConnectorError, createBatch, type WriteResult } from '../../packages/engine/src/connector-api/index.js';
import { DocumentedVendor, readDocumented, unzipped, type DocumentedOutput } from '../support/documented-exchanges.js';
import { leadTo, TestClock } from '../support/poll-driver.js';
import { encodings, secretsOf } from '../support/secret-texts.js';
import { startVendor, type Received, type Reply, type Vendor } from '../support/vendor.js';

let server: Vendor;
let respond: (request: Received, origin: string) => Reply;
beforeAll(async () => {
  server = await startVendor((request) => respond(request, String(request.headers['x-asked-origin'])));
});
afterAll(() => server.close());

interface Outcome {
  result?: WriteResult;
  error?: ConnectorError;
}

describe.each(readDocumented<DocumentedOutput>('output'))('%s', (typeId, documented) => {
  const type = loadCatalog().get('output', typeId);
  if (!type) throw new Error(`${typeId} is not an output`);
  const { config, exchanges, check, records, errors, now = '2026-03-10T12:00:00Z' } = documented;
  const code = connectors(type);
  const vendor = new DocumentedVendor(exchanges);
  const batch = createBatch(
    'batch-1',
    records.map((record) => JSON.stringify(record)),
  );
  const clock = new TestClock();
  clock.ms = Date.parse(now);
  const egressFor = (of: DocumentedVendor) =>
    leadTo(server.origin, of.origins, (origin) => of.unknown.push(`${origin} is not documented`));

  async function write(): Promise<Outcome> {
    const output = code.createOutput?.(config, { type: type ?? never(), egress: egressFor(vendor), clock });
    const { signal } = new AbortController();
    try {
      await output?.open?.(signal);
      return { result: (await output?.write(batch, signal)) ?? {} };
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      return { error };
    } finally {
      await output?.close?.();
    }
  }
  /** Responds as documented until records are sent, and then with `reply`. */
  const failWith = (reply: Reply | ((request: Received) => Reply)): void => {
    const usual = new DocumentedVendor(exchanges);
    const [last] = exchanges.slice(-1);
    respond = (request, origin) => {
      const { pathname, searchParams } = new URL(request.url, origin);
      const carriesRecords =
        last !== undefined &&
        pathname === new URL(last.request.url).pathname &&
        Object.keys(last.request.query ?? {}).every((name) => searchParams.has(name));
      if (!carriesRecords) return usual.respond(request, origin);
      return typeof reply === 'function' ? reply(unzipped(request)) : reply;
    };
  };

  test('sends the documented requests', async () => {
    expect(validateConfig(type.config, config)).toEqual([]);
    respond = vendor.respond.bind(vendor);
    const outcome = await write();
    expect(vendor.unknown).toEqual([]);
    expect(outcome).toEqual({ result: {} });
    expect(vendor.unused).toEqual([]);
  });

  test('tests the connection without writing anything', async () => {
    const checked = new DocumentedVendor(check);
    respond = checked.respond.bind(checked);
    const outcome = await code.testConnection?.(config, {
      egress: egressFor(checked),
      signal: new AbortController().signal,
    });
    expect(checked.unknown).toEqual([]);
    expect(outcome).toMatchObject({ ok: true });
    expect(checked.unused).toEqual([]);
  });

  test.each(errors)('understands the documented error %j', async (error) => {
    const { status = 200, headers = {}, body = '' } = error.response;
    const isText = typeof body === 'string';
    failWith({
      status,
      headers: { ...(!isText && { 'content-type': 'application/json' }), ...headers },
      body: isText ? body : JSON.stringify(body),
    });
    const { result, error: thrown } = await write();
    expect({
      ...(thrown && { code: thrown.code, kind: thrown.kind }),
      ...(result?.rejected && { rejected: result.rejected.map(({ index }) => index) }),
      ...(result?.retry && { retried: result.retry.indexes }),
      ...(result?.refused && { refused: result.refused.flatMap(({ indexes }) => indexes) }),
    }).toEqual({
      ...((error.code ?? error.kind) && { code: error.code ?? thrown?.code, kind: error.kind ?? thrown?.kind }),
      ...(error.rejected && { rejected: error.rejected }),
      ...(error.retried && { retried: error.retried }),
      ...(error.refused && { refused: error.refused }),
    });
  });

  test('keeps the records when the vendor is busy or down, and never quotes a response', async () => {
    failWith({ status: 429, headers: { 'retry-after': '7' } });
    expect((await write()).error).toMatchObject({ kind: 'throttled', afterMs: 7_000 });
    failWith({ status: 502, body: 'bad gateway' });
    expect((await write()).error).toMatchObject({ kind: 'retry' });
    failWith(({ headers, body }) => ({ status: 401, body: { error: `${JSON.stringify(headers)} ${body}` } }));
    const { error } = await write();
    failWith({ headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Sign in</title>' });
    expect((await write()).error).toMatchObject({ code: 'unexpected_answer' });
    const { partial } = type.delivery?.responses ?? {};
    if (partial && partial.index === undefined) {
      // Without a result for each record, none counts as written.
      failWith({ body: {} });
      expect((await write()).error).toMatchObject({ code: 'unexpected_answer' });
    }
    expect(error).toMatchObject({ kind: 'permanent' });
    const told = `${error?.code} ${error?.message}`;
    for (const secret of secretsOf(config.secrets))
      for (const encoded of encodings(secret)) expect(told).not.toContain(encoded);
  });
});

const never = (): never => {
  throw new Error('There is no type.');
};
