import { afterEach, expect, test } from 'vitest';
import { startVendor, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { outputContext } from '../../../../test/support/output-attempt.js';
import { createEgress } from '@connector-frame/engine/egress';
import type { DataRecord, Page } from '@connector-frame/engine/connector-api';
import { httpPollInput } from './index.js';
import { recordsIn } from './input.js';

let server: Vendor | undefined;
afterEach(() => server?.close());
const egress = createEgress({ allow: ['127.0.0.0/8'] });
const signal = new AbortController().signal;

async function pagesOf(reply: Reply, settings: object = {}, secrets: object = {}): Promise<Page[]> {
  server = await startVendor(() => reply);
  const config = { settings: { endpoint: `${server.origin}/v1/events?x=1`, ...settings }, secrets: { ...secrets } };
  const input = httpPollInput.createInput?.(config, outputContext('output:http', egress));
  if (input?.kind !== 'pages') throw new Error('no input');
  const pages: Page[] = [];
  for await (const page of input.pages(undefined, signal)) pages.push(page);
  return pages;
}
const recordsOf = async (...given: Parameters<typeof pagesOf>): Promise<DataRecord[]> =>
  (await pagesOf(...given)).flatMap(({ records }) => records);

test.each([
  ['a list', '[{"n":1},"x",{"n":12345678901234567890}]', [{ n: 1 }, { message: 'x' }, { n: '12345678901234567890' }]],
  ['an object', '{"data":[1]}', [{ data: [1] }]],
  ['a document per line', '{"n":1}\r\n\n{"n":2}\n', [{ n: 1 }, { n: 2 }]],
  ['text', 'up 1\nmore', [{ message: 'up 1\nmore' }]],
  ['nothing', ' ', []],
])('%s becomes records', (_what, text, records) => expect(recordsIn(text)).toEqual(records));

test('sends the request of the settings, and the credentials of the choice', async () => {
  const settings = {
    method: 'POST',
    auth: { strategy: 'basic', basic: { user: 'ada' } },
    headers: { 'X-Source': 'a' },
    query: { q: 'ü&' },
    body: '{"all":true}',
  };
  expect(await recordsOf({ body: '[{"n":1}]' }, settings, { password: 'p', token: 'other' })).toEqual([{ n: 1 }]);
  const [request] = server?.requests ?? [];
  expect(request).toMatchObject({
    method: 'POST',
    url: '/v1/events?x=1&q=%C3%BC%26',
    body: '{"all":true}',
    headers: { authorization: `Basic ${Buffer.from('ada:p').toString('base64')}`, 'x-source': 'a' },
  });
});

test('splits a large response into pages, and refuses a huge one', async () => {
  const many = JSON.stringify(Array.from({ length: 2_500 }, (_, n) => ({ n })));
  const pages = await pagesOf({ body: many });
  expect(pages.map(({ records }) => records.length)).toEqual([1_000, 1_000, 500, 0]);
  await server?.close();
  await expect(pagesOf({ body: 'x'.repeat(17 * 1024 * 1024) })).rejects.toMatchObject({ code: 'unexpected_answer' });
});

test('does not follow to another site with the credentials, and does not quote a response', async () => {
  const auth = { auth: { strategy: 'bearer' } };
  const secrets = { token: 'canary-0013' };
  const away = { status: 302, headers: { location: 'http://127.0.0.2/' } };
  await expect(pagesOf(away, auth, secrets)).rejects.toMatchObject({ code: 'redirected' });
  await server?.close();
  const error = await pagesOf({ status: 401, body: 'canary-0013' }, auth, secrets).catch((each: unknown) => each);
  expect(error).toMatchObject({ code: 'invalid_credentials', kind: 'permanent' });
  expect(String(error)).not.toContain('canary');
});

test('tests the connection, but sends nothing that may delete', async () => {
  server = await startVendor(({ method }) => ({ status: method === 'HEAD' || method === 'GET' ? 200 : 500 }));
  const endpoint = server.origin;
  for (const method of ['GET', 'DELETE'])
    expect(
      await httpPollInput.testConnection?.({ settings: { endpoint, method }, secrets: {} }, { egress, signal }),
    ).toMatchObject({ ok: true });
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'HEAD']);
});
