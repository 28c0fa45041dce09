import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { newDataFolder } from '../../../test/support/data-folder.js';
import { writeForm } from '../../../test/support/form-assets.js';
import { API_KEY, operatorsEnvironment } from '../../../test/support/operator.js';
import { connectClient, type ServiceClient } from '../../../test/support/service-client.js';
import { buildService, mustStart } from '../../../test/support/service-process.js';
import { startVendor, type Reply, type Vendor } from '../../../test/support/vendor.js';
import { long } from '../../../test/support/long.js';

/**
 * The process exports traces as OTLP over HTTP with JSON, in the shape of
 * https://github.com/open-telemetry/opentelemetry-proto: `resourceSpans`, `scopeSpans`, `spans`.
 * `traceparent` has the format of https://www.w3.org/TR/trace-context/.
 */
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  status: { code?: number };
  links: { traceId: string }[];
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
}

const OK: Reply = { status: 200 };

let form: Awaited<ReturnType<typeof writeForm>>;
let collector: Vendor;
let destination: Vendor;
let replies: Reply[];

beforeAll(async () => {
  buildService();
  form = await writeForm();
  collector = await startVendor(() => ({ status: 200, body: {} }));
  destination = await startVendor(() => replies.shift() ?? OK);
});
afterAll(async () => {
  await collector.close();
  await destination.close();
  await form.remove();
});
beforeEach(() => {
  replies = [];
});

const spansOf = (traceId: string): Span[] =>
  collector.requests
    .filter(({ url }) => url === '/v1/traces')
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }): Span[] => spans)
    .filter((span) => span.traceId === traceId);

const attributeOf = (span: Span | undefined, name: string): string | number | undefined => {
  const { stringValue, intValue } = span?.attributes.find(({ key }) => key === name)?.value ?? {};
  return stringValue ?? intValue;
};

async function start(environment: Record<string, string>) {
  const folder = await newDataFolder('service');
  const service = await mustStart({
    ...operatorsEnvironment(folder, form.folder),
    EGRESS_ALLOW: '127.0.0.1/32',
    ...environment,
  });
  onTestFinished(async () => {
    service.kill('SIGKILL');
    await service.exited;
    await rm(folder, { recursive: true, force: true });
  });
  const client = await connectClient(service, API_KEY);
  const input = await client.make('inputs', 'monad-http');
  const settings = { endpoint: `${destination.origin}/in`, method: 'POST', payload_structure: 'array' };
  const output = { name: 'Out', type: 'http', config: { settings, secrets: {} } };
  const built = await client.build(input, output);
  return { service, client, input, pipelineId: built.pipeline_id };
}

async function post(client: ServiceClient, input: string, traceparent: string, body = '{"n":1}'): Promise<number> {
  const { url, token } = await client.ingestOf(input);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', traceparent };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

/** Returns the `traceparent` of the request that delivered a record. */
const arrived = (text: string): unknown =>
  destination.requests.findLast(({ body }) => body.includes(text))?.headers['traceparent'];

it('continues the trace of a sender up to the request to the destination, over its retries', async () => {
  const exporter = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin, OTEL_BSP_SCHEDULE_DELAY: '100' };
  const { service, client, input, pipelineId } = await start(exporter);
  const [trace, sender] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
  replies = [{ status: 503 }, OK];
  expect(await post(client, input, `00-${trace}-${sender}-01`, '{"n":"traced"}\n{"n":2}')).toBe(200);
  await expect
    .poll(() =>
      spansOf(trace)
        .map(({ name }) => name)
        .toSorted(),
    )
    .toEqual(['POST /ingest/{connector_id}', 'deliver', 'write', 'write']);
  const spans = spansOf(trace);
  const [received, delivered] = ['POST /ingest/{connector_id}', 'deliver'].map((name) =>
    spans.find((span) => span.name === name),
  );
  const writes = spans.filter(({ name }) => name === 'write');
  expect(received?.parentSpanId).toBe(sender);
  expect(attributeOf(received, 'http.response.status_code')).toBe(200);
  expect(delivered?.parentSpanId).toBe(received?.spanId);
  expect(attributeOf(delivered, 'connector_frame.pipeline.id')).toBe(pipelineId);
  expect(attributeOf(delivered, 'messaging.batch.message_count')).toBe(2);
  expect(writes.map(({ parentSpanId }) => parentSpanId)).toEqual([delivered?.spanId, delivered?.spanId]);
  // 2: an error.
  expect(writes.filter(({ status }) => status.code === 2)).toHaveLength(1);
  const written = writes.find(({ status }) => status.code !== 2);
  expect(arrived('traced')).toBe(`00-${trace}-${written?.spanId}-01`);

  // A sender that is not recorded is not recorded here either.
  const quiet = '1af7651916cd43dd8448eb211c80319c';
  expect(await post(client, input, `00-${quiet}-${sender}-00`, '{"n":"quiet"}')).toBe(200);
  await expect.poll(() => arrived('quiet')).toMatch(new RegExp(`^00-${quiet}-[0-9a-f]{16}-00$`));

  // Values of an attacker: neither an error nor a trace id that was not well formed.
  expect(await post(client, input, '00-zzz', '{"n":"bad"}')).toBe(200);
  await expect.poll(() => arrived('bad')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);

  service.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  expect(spansOf(quiet)).toEqual([]);
});

const traceOf = (n: number): string => `${n}bf7651916cd43dd8448eb211c80319c`;

it('links the other senders of a request that joins records of several', async () => {
  const exporter = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin, OTEL_BSP_SCHEDULE_DELAY: '100' };
  const { client, input } = await start(exporter);
  await Promise.all(
    [1, 2, 3].map((n) => post(client, input, `00-${traceOf(n)}-b7ad6b7169203331-01`, `{"n":"joined ${n}"}`)),
  );
  const seen = (): Set<string> => {
    const delivered = [1, 2, 3].flatMap((n) => spansOf(traceOf(n))).filter(({ name }) => name === 'deliver');
    return new Set(delivered.flatMap(({ traceId, links }) => [traceId, ...links.map((link) => link.traceId)]));
  };
  await expect.poll(seen).toEqual(new Set([1, 2, 3].map(traceOf)));
});

it.runIf(long)('sends no trace context and exports nothing without the address of a collector', async () => {
  const { client, input } = await start({});
  const before = collector.requests.length;
  expect(await post(client, input, '00-2cf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '{"n":"off"}')).toBe(200);
  await expect.poll(() => destination.requests.some(({ body }) => body.includes('off'))).toBe(true);
  expect(arrived('off')).toBeUndefined();
  expect(collector.requests).toHaveLength(before);
});

it.runIf(long)('runs while the collector of the traces is away', async () => {
  const { client, input, service } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_BSP_SCHEDULE_DELAY: '10',
  });
  expect(await post(client, input, '00-3cf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '{"n":"away"}')).toBe(
    200,
  );
  await expect.poll(() => arrived('away')).toMatch(/^00-3cf/);
  service.kill('SIGTERM');
  expect(await service.exited).toBe(0);
});
