import { mkdtemp, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, expect, test } from 'vitest';
import { createEgress } from '@connector-frame/engine/egress';
import { ManualClock } from '@connector-frame/engine/testing';
import type { ConnectorContext } from '@connector-frame/engine/connector-api';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { cidrEnrichment } from '../cidr/index.js';
import { csvTableEnrichment } from './index.js';

const code = { 'csv-table': csvTableEnrichment, cidr: cidrEnrichment };
const never = new AbortController().signal;

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'lookups-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

function enrichment(type: keyof typeof code, settings: Record<string, unknown>, more: Partial<ConnectorContext> = {}) {
  const data = typeOf(`enrichment:${type}`);
  const paths = { join_path: 'id', ip_address_path: 'ip', destination_path: 'found' };
  const context = { type: data, egress: createEgress({ allow: [] }), clock: new ManualClock(), ...more };
  const made = code[type].createEnrichment?.({ settings: { ...paths, ...settings }, secrets: {} }, context);
  if (!made) throw new Error('There is no enrichment.');
  const find = async (...keys: string[]) => {
    const { results } = await made.lookUp(keys, never);
    return keys.map((key) => {
      const result = results.get(key);
      return result && ('data' in result ? result.data : result);
    });
  };
  return {
    made,
    find,
    test: () => code[type].testConnection?.({ settings, secrets: {} }, { ...context, signal: never }),
  };
}

const inline = (csv: string, column = 'id') => ({
  table: { type: 'inline', inline: { csv } },
  key_column: column,
  network_column: column,
});
const file = (name: string, column = 'id') => ({
  table: { type: 'file', file: { name } },
  key_column: column,
  network_column: column,
});

test('finds rows by a column; the last of several with a value counts', async () => {
  const csv = '\uFEFFid,name,note\nu-1,Ana,"line 1\nline 2"\n\nu-2,Ben,\nu-1,"Ann, not Ana","say ""hi"""\n';
  const { find, made, test: run } = enrichment('csv-table', inline(csv));
  await made.open?.(never);
  expect(await find('u-1', 'u-2', 'u-3', '__proto__', 'id')).toEqual([
    { id: 'u-1', name: 'Ann, not Ana', note: 'say "hi"' },
    { id: 'u-2', name: 'Ben', note: '' },
    undefined,
    undefined,
    undefined,
  ]);
  expect(await run()).toEqual({ ok: true, summary: 'The table has 2 different keys' });
});

test.each([
  ['no column', 'name\nAna\n', 'The table has no column id.'],
  ['nothing', '', 'The table has no column id.'],
  ['two columns of one name', 'id,id\n1,2\n', 'The table has two columns of the same name.'],
  ['a row with too many cells', 'id,name\n1,a\n2,b,c\n', 'The table is no valid CSV at line 3.'],
  ['a quote that does not end', 'id\n"1\n2\n', 'The table is no valid CSV at line 3.'],
  ['a cell that is too large', `id\n${'x'.repeat(70_000)}\n`, 'The table is no valid CSV at line 2.'],
])('a table with %s does not open, and the test says why', async (_name, csv, message) => {
  const { made, test: run } = enrichment('csv-table', inline(csv));
  await expect(made.open?.(never)).rejects.toMatchObject({ code: 'invalid_config', kind: 'permanent', message });
  expect(await run()).toMatchObject({
    ok: false,
    reason: 'invalid_config',
    message,
    issues: [{ path: '/settings/table' }],
  });
});

test('a line without a network is named', async () => {
  const { made } = enrichment('cidr', inline('network,site\n10.0.0.0/8,a\n\n10.0.0.0/99,b\n', 'network'));
  await expect(made.open?.(never)).rejects.toMatchObject({
    message: 'Line 4 of the table has no network, address or range in network.',
  });
});

test('finds networks, and tells how many there are', async () => {
  const { find, test: run } = enrichment('cidr', inline('network,site\n10.0.0.0/8,a\n10.1.0.0/16,b\n', 'network'));
  expect(await find('10.1.2.3', '10.2.0.0', '11.0.0.0', 'text')).toEqual([
    { network: '10.1.0.0/16', site: 'b' },
    { network: '10.0.0.0/8', site: 'a' },
    undefined,
    undefined,
  ]);
  expect(await run()).toEqual({ ok: true, summary: 'The table has 2 networks' });
});

test('reads a file of the operator, first that of the organization, and again when it has changed', async () => {
  const [own, common] = [await folder(), await folder()];
  await writeFile(join(common, 'users.csv'), 'id;name\n1;common\n');
  const clock = new ManualClock();
  const { find } = enrichment(
    'csv-table',
    { ...file('users.csv'), delimiter: 'semicolon' },
    { clock, lookupFolders: [own, common] },
  );
  expect(await find('1')).toEqual([{ id: '1', name: 'common' }]);
  await writeFile(join(own, 'users.csv'), 'id;name\n1;own\n');
  expect(await find('1')).toEqual([{ id: '1', name: 'common' }]);
  clock.advance(30_000);
  expect(await find('1')).toEqual([{ id: '1', name: 'own' }]);
  await writeFile(join(own, 'users.csv'), 'id;name\n1;new\n');
  await utimes(join(own, 'users.csv'), 1, 1);
  clock.advance(30_000);
  expect(await find('1')).toEqual([{ id: '1', name: 'new' }]);
  await writeFile(join(own, 'users.csv'), 'broken');
  clock.advance(30_000);
  await expect(find('1')).rejects.toMatchObject({ code: 'invalid_config' });
});

test('files are not enabled, missing, too large, or outside of the folder', async () => {
  expect(() => enrichment('csv-table', file('users.csv'))).toThrow('Ask your operator to set LOOKUP_DIR.');
  const own = await folder();
  await mkdir(join(own, 'directory.csv'));
  await writeFile(join(own, 'large.csv'), Buffer.alloc(33 * 1024 * 1024));
  await symlink(join(own, 'nowhere'), join(own, 'dangling.csv'));
  const at = (name: string) => enrichment('csv-table', file(name), { lookupFolders: [own] });
  for (const name of ['users.csv', 'directory.csv', 'dangling.csv']) {
    await expect(at(name).made.open?.(never)).rejects.toMatchObject({ code: 'not_found', kind: 'permanent' });
    expect(await at(name).test()).toMatchObject({ ok: false, reason: 'not_found' });
  }
  await expect(at('large.csv').made.open?.(never)).rejects.toThrow('The file is larger than 32 MiB.');
  for (const name of ['../users.csv', '/etc/passwd', '.users.csv', '', 'a/b.csv'])
    expect(() => at(name)).toThrow('The name of the file is not valid.');
});

test('pipelines with the same file share its content until all are closed', async () => {
  const own = await folder();
  await writeFile(join(own, 'users.csv'), 'id,name\n1,a\n');
  const make = () => enrichment('csv-table', file('users.csv'), { lookupFolders: [own] });
  const [first, second] = [make(), make()];
  const rowOf = async ({ made }: typeof first) => (await made.lookUp(['1'], never)).results.get('1');
  const row = await rowOf(first);
  expect(await rowOf(second)).toBe(row);
  await first.made.close?.();
  expect(await rowOf(make())).toBe(row);
  // Another column makes another table of it.
  expect(await enrichment('csv-table', file('users.csv', 'name'), { lookupFolders: [own] }).find('a', '1')).toEqual([
    { id: '1', name: 'a' },
    undefined,
  ]);
});

test('a file whose run ends while it is read is not kept', async () => {
  const own = await folder();
  const path = join(own, 'users.csv');
  const make = () => enrichment('csv-table', file('users.csv'), { lookupFolders: [own] });
  // The file looks unchanged, so that content that is kept would be used.
  const write = async (name: string) => {
    await writeFile(path, `id,name\n1,${name}\n`);
    await utimes(path, 1, 1);
  };
  await write('a');
  const { made } = make();
  const opened = made.open?.(never);
  await made.close?.();
  await opened;
  await write('b');
  expect(await make().find('1')).toEqual([{ id: '1', name: 'b' }]);
});
