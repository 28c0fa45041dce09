import { expect, onTestFinished, test } from 'vitest';
import { attempt, noted, outputContext } from '../../../../test/support/output-attempt.js';
import { startVendor, type Received } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { sematextOutput } from './index.js';

// The request of https://sematext.com/docs/logs/index-events-via-elasticsearch-api/: the token of the
// app is the index, and there is no other credential.
const TOKEN = '8d5f0c1e-4b7a-4c1d-9a52-6f3e2d1c0b9a';

test('indexes by the bulk API of Elasticsearch, with the token in the body alone', async () => {
  const seen: Received[] = [];
  const server = await startVendor((request) => {
    seen.push(request);
    const items = [{ index: { status: 201 } }, { index: { status: 400, error: { type: 'mapper_parsing_exception' } } }];
    return request.method === 'POST' ? { body: { errors: true, items } } : { status: 404 };
  });
  onTestFinished(() => server.close());
  const config = { settings: { endpoint: `${server.origin}/` }, secrets: { token: TOKEN } };
  const output = sematextOutput.createOutput?.(config, outputContext('output:sematext'));
  if (!output) throw new Error('no output');
  const { written, rejected } = await attempt(output, noted(2));
  expect(written).toEqual([0]);
  expect(rejected.map(({ n }) => n)).toEqual([1]);
  const bulk = seen.at(-1);
  expect(bulk?.url.startsWith('/_bulk')).toBe(true);
  expect(bulk?.body.split('\n')[0]).toBe(`{"index":{"_index":"${TOKEN}","_id":"batch-0.0"}}`);
  expect(JSON.stringify(seen.map(({ url, headers }) => [url, headers]))).not.toContain(TOKEN);
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const { signal } = new AbortController();
  expect(await sematextOutput.testConnection?.(config, { egress, signal })).toMatchObject({ ok: true });
});

test('uses the receiver of the region', async () => {
  const asked: string[] = [];
  const egress = createEgress({ allow: [], lookup: (name) => (asked.push(name), Promise.resolve(['10.0.0.1'])) });
  const { signal } = new AbortController();
  for (const region of ['us', 'eu'])
    await sematextOutput.testConnection?.({ settings: { region }, secrets: { token: TOKEN } }, { egress, signal });
  expect(asked).toEqual(['logsene-receiver.sematext.com', 'logsene-receiver.eu.sematext.com']);
});
