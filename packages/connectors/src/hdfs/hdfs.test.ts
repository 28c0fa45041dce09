import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { attempt, noted, outputContext } from '../../../../test/support/output-attempt.js';
import { startVendor, type Received, type Reply, type Vendor } from '../../../../test/support/vendor.js';
import { createEgress } from '@connector-frame/engine/egress';
import { createBatch, type Output } from '@connector-frame/engine/connector-api';
import { fileNameOf } from './file-name.js';
import { hdfsOutput } from './index.js';

const vendors: Vendor[] = [];
afterEach(() => Promise.all(vendors.splice(0).map((vendor) => vendor.close())));
const egress = createEgress({ allow: ['127.0.0.0/8'] });
const signal = new AbortController().signal;

async function start(respond: (request: Received) => Reply): Promise<Vendor> {
  const vendor = await startVendor(respond);
  vendors.push(vendor);
  return vendor;
}
const open = (endpoint: string, settings: object = {}): Output => {
  const config = { settings: { endpoint, root: '/data/security', ...settings }, secrets: {} };
  const output = hdfsOutput.createOutput?.(config, outputContext('output:hdfs', egress));
  if (!output) throw new Error('no output');
  return output;
};
const isDirectory = { body: { FileStatus: { type: 'DIRECTORY', pathSuffix: '' } } };

// The two steps of https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html#Create_and_Write_to_a_File
test('asks the NameNode without content, and writes to the DataNode that it names', async () => {
  const dataNode = await start(() => ({ status: 201 }));
  const nameNode = await start(({ method, url }) =>
    method === 'GET'
      ? isDirectory
      : { status: 307, headers: { location: `${dataNode.origin}${url}&namenoderpcaddress=a:1` } },
  );
  const output = open(`${nameNode.origin}/`, { prefix: 'date=%Y-%m-%d/' });
  await output.open?.(signal);
  const batch = Object.assign(createBatch('b', ['{"n":1}', '{"n":2}']), { at: Date.parse('2026-03-10T23:59:59Z') });
  expect(await output.write(batch, signal)).toEqual({});
  const [, asked] = nameNode.requests;
  const path = '/webhdfs/v1/data/security/date%3D2026-03-10/20260310T235959Z-b.json.gz';
  expect([asked?.method, asked?.url, asked?.bytes.length]).toEqual(['PUT', `${path}?op=CREATE&overwrite=true`, 0]);
  const [written] = dataNode.requests;
  expect([written?.method, written?.url]).toEqual(['PUT', `${path}?op=CREATE&overwrite=true&namenoderpcaddress=a:1`]);
  expect(gunzipSync(written?.bytes ?? Buffer.alloc(0)).toString()).toBe('{"n":1}\n{"n":2}\n');
});

test.each([
  [
    'a closed address',
    'http://169.254.169.254/webhdfs/v1/data/security/records-batch-0.json?op=CREATE',
    'egress_refused',
  ],
  ['another path', 'http://127.0.0.1:1/latest/meta-data?op=CREATE', 'redirected'],
  ['another operation', 'http://127.0.0.1:1/webhdfs/v1/data/security/records-batch-0.json?op=DELETE', 'redirected'],
  ['another scheme', 'file:///webhdfs/v1/data/security/records-batch-0.json?op=CREATE', 'redirected'],
  ['a user', 'http://a:b@127.0.0.1:1/webhdfs/v1/data/security/records-batch-0.json?op=CREATE', 'redirected'],
  ['no address', '', 'redirected'],
])('does not write to %s that a NameNode names', async (_what, location, code) => {
  const nameNode = await start(({ method }) =>
    method === 'GET' ? isDirectory : { status: 307, headers: { location } },
  );
  const guarded = createEgress({ allow: ['127.0.0.1/32'] });
  const config = { settings: { endpoint: nameNode.origin, root: '/data/security', compression: 'none' }, secrets: {} };
  const output = hdfsOutput.createOutput?.(config, outputContext('output:hdfs', guarded));
  if (!output) throw new Error('no output');
  expect((await attempt(output, noted(1))).failure).toMatchObject({ code });
});

test('follows one redirect only, and takes nothing but 201 for written', async () => {
  const other = await start(() => ({ status: 201 }));
  for (const reply of [{ status: 307, headers: { location: `${other.origin}/` } }, { status: 200 }]) {
    const dataNode = await start(() => reply);
    const nameNode = await start(({ method, url }) =>
      method === 'GET' ? isDirectory : { status: 307, headers: { location: `${dataNode.origin}${url}` } },
    );
    expect((await attempt(open(nameNode.origin), noted(1))).failure).toMatchObject({ code: 'unexpected_answer' });
  }
  expect(other.requests).toEqual([]);
});

test.each([
  [{ status: 403, body: { RemoteException: { exception: 'AccessControlException' } } }, 'forbidden', 'permanent'],
  [{ status: 500 }, 'upstream_error', 'retry'],
  [{ status: 200, body: 'hello' }, 'unexpected_answer', 'retry'],
])('a NameNode that responds %j is an error', async (reply, code, kind) => {
  const nameNode = await start(({ method }) => (method === 'GET' ? isDirectory : reply));
  expect((await attempt(open(nameNode.origin), noted(1))).failure).toMatchObject({ code, kind });
});

test('the connection test reads the status of the folder, which may be new', async () => {
  const missing = { status: 404, body: { RemoteException: { exception: 'FileNotFoundException' } } };
  for (const [reply, ok] of [
    [isDirectory, true],
    [missing, true],
    [{ body: 'hello' }, false],
    [{ status: 404 }, false],
  ] as const) {
    const nameNode = await start(() => reply);
    const config = { settings: { endpoint: nameNode.origin, root: '/data' }, secrets: {} };
    expect(await hdfsOutput.testConnection?.(config, { egress, signal })).toMatchObject({ ok });
    expect(nameNode.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /webhdfs/v1/data?op=GETFILESTATUS',
    ]);
  }
});

test('puts the time of the batch, or of now, into the prefix', () => {
  expect(fileNameOf('%F/%H-%M-%S_%y%%_', '20260102T030405Z-b', 0)).toBe('2026-01-02/03-04-05_26%_20260102T030405Z-b');
  expect(fileNameOf('%Y/%m/%d/', 'records-b', Date.parse('2026-03-10T00:00:00Z'))).toBe('2026/03/10/records-b');
  expect(() => open('http://127.0.0.1', { prefix: '../../tmp/' })).toThrow(/segments/);
});
