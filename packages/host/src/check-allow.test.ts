import { afterEach, beforeEach, expect, test } from 'vitest';
import { get, startHost } from '../../../test/support/start-host.js';
import { usualAnswers } from '../../../test/support/upstream.js';

let hosts: Awaited<ReturnType<typeof startHost>>;

beforeEach(async () => {
  hosts = await startHost();
});
afterEach(() => hosts.close());

const types = (host: ReturnType<typeof hosts.create>) => host(get('/api/catalog?kind=input'));

test('checkAllow names type IDs that the service does not have, and what to write instead', async () => {
  const host = hosts.create({ allow: { input: ['s3', 'okta-systmlog', 'zzz'], output: ['okta-systemlog'] } });
  await expect(host.checkAllow()).rejects.toThrow(
    new TypeError(
      [
        'createHost: allow.input has "okta-systmlog", which the service doesn\'t have. Write "okta-systemlog", or remove it.',
        'allow.input has "zzz", which the service doesn\'t have. Remove it.',
        'allow.output has "okta-systemlog", which the service doesn\'t have. It is an input: move it to allow.input.',
      ].join('\n'),
    ),
  );
});

test('checkAllow resolves if the service has every type, and without allow', async () => {
  await hosts.create({ allow: { input: ['s3', 'http'], output: [] } }).checkAllow();
  hosts.seen.length = 0;
  await hosts.create().checkAllow();
  expect(hosts.seen).toEqual([]);
});

test('checkAllow requests the enrichments only if allow has any', async () => {
  await hosts.create({ allow: { input: ['s3'] } }).checkAllow();
  expect(hosts.seen.map(({ path }) => path)).not.toContain('/v1/enrichments');
  await hosts.close();
  hosts = await startHost({ ...usualAnswers, 'GET /v1/enrichments': { body: [{ type_id: 'geoip' }] } });
  await expect(hosts.create({ allow: { enrichment: ['geoip', 's3'] } }).checkAllow()).rejects.toThrow(
    'allow.enrichment has "s3", which the service doesn\'t have. It is an input: move it to allow.input.',
  );
});

test('checkAllow rejects if the service does not return its catalogs', async () => {
  await hosts.close();
  hosts = await startHost({ ...usualAnswers, 'GET /v1/outputs': { status: 401, body: { error: 'no' } } });
  await expect(hosts.create({ allow: { input: ['s3'] } }).checkAllow()).rejects.toMatchObject({ status: 401 });
});

test('the first catalog of a host reports unknown type IDs once, and has the others', async () => {
  const host = hosts.create({ allow: { input: ['s3', 'htpp'], output: ['s4'] } });
  expect(await (await types(host)).json()).toMatchObject([{ type_id: 's3' }]);
  await types(host);
  expect(hosts.onError.mock.calls.map(([error]) => String(error))).toEqual([
    'TypeError: createHost: allow.input has "htpp", which the service doesn\'t have. Write "http", or remove it.',
  ]);
});
