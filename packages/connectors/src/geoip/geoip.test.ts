/**
 * The databases in `test/support/mmdb` were written by github.com/maxmind/mmdbwriter 1.2.0, the
 * writer of the format's authors. Their entries are those of the networks below.
 */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createEgress } from '@connector-frame/engine/egress';
import { ManualClock } from '@connector-frame/engine/testing';
import { typeOf } from '../../../../test/support/declared-fields.js';
import { geoipEnrichment, geolocusEnrichment } from './index.js';

const folder = fileURLToPath(new URL('../../../../test/support/mmdb', import.meta.url));
const code = { geoip: geoipEnrichment, geolocus: geolocusEnrichment };
const never = new AbortController().signal;

function lookup(type: keyof typeof code, settings: Record<string, unknown>, lookupFolders = [folder]) {
  const data = typeOf(`enrichment:${type}`);
  const config = { settings: { ip_address_path: 'ip', destination_path: 'geo', ...settings }, secrets: {} };
  const context = { type: data, egress: createEgress({ allow: [] }), clock: new ManualClock(), lookupFolders };
  const made = code[type].createEnrichment?.(config, context);
  const find = async (...keys: string[]) => {
    await made?.open?.(never);
    const { results } = (await made?.lookUp(keys, never)) ?? { results: new Map<string, never>() };
    return keys.map((key) => {
      const result = results.get(key);
      return result && 'data' in result ? result.data : undefined;
    });
  };
  return { find, test: () => code[type].testConnection?.(config, { ...context, signal: never }) };
}

const place = (name: string, geoname: number, latitude: number, longitude: number) => ({
  city: { geoname_id: geoname, names: { en: name } },
  country: { iso_code: 'SE', is_in_european_union: true, names: { en: 'Sweden' } },
  location: { latitude, longitude, accuracy_radius: 20 },
  subdivisions: [{ iso_code: 'E' }, { iso_code: 'F' }],
});

test('finds the entry of an address', async () => {
  const { find } = lookup('geoip', { database: 'city.mmdb' });
  const linkoping = place('Linköping', 2_694_762, 58.4167, 15.6167);
  expect(
    await find(
      '89.160.20.1',
      '89.160.20.120',
      '::ffff:89.160.20.1',
      '2001:480:10::1',
      '89.160.21.0',
      'text',
      '::1%lo',
      '1',
    ),
  ).toEqual([
    linkoping,
    place('Stockholm', 2_673_730, 59.33, 18.06),
    linkoping,
    expect.objectContaining({ city: { geoname_id: 5_391_811, names: { en: 'San Diego' } } }),
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('keeps the digits of large numbers as text, and bytes as base64', async () => {
  const { find } = lookup('geoip', { database: 'city.mmdb' });
  expect(await find('1.2.3.4')).toEqual([
    {
      bytes: 'AAH/',
      uint64: '18446744073709551615',
      uint128: '1267650600228229401496703205376',
      small: 7,
      int32: -5,
      float: 1.5,
      array: ['a'],
    },
  ]);
});

test('returns the selected parts', async () => {
  const fields = ['country.iso_code', 'city.names', 'subdivisions.1.iso_code', 'nothing', '__proto__.x'];
  const { find } = lookup('geoip', { database: 'city.mmdb', fields });
  expect(await find('89.160.20.1', '1.2.3.4')).toEqual([
    { country: { iso_code: 'SE' }, city: { names: { en: 'Linköping' } }, subdivisions: [{ iso_code: 'F' }] },
    {},
  ]);
});

test('a database of IPv4 knows no IPv6 address', async () => {
  const { find } = lookup('geoip', { database: 'v4.mmdb' });
  expect(await find('8.8.8.8', '2001:480:10::1', '::')).toEqual([{ asn: 'AS15169' }, undefined, undefined]);
});

test('Geolocus reads the file of its name', async () => {
  const own = await mkdtemp(join(tmpdir(), 'geolocus-'));
  onTestFinished(() => rm(own, { recursive: true, force: true }));
  const { find, test: run } = lookup('geolocus', {}, [own]);
  await expect(find('8.8.8.8')).rejects.toMatchObject({ code: 'not_found', kind: 'permanent' });
  await copyFile(join(folder, 'v4.mmdb'), join(own, 'geolocus.mmdb'));
  expect(await find('8.8.8.8')).toEqual([{ asn: 'AS15169' }]);
  expect(await run()).toEqual({ ok: true, summary: 'Test-V4, built on 2026-01-01' });
});

test.each([
  ['text', 'not a database'],
  ['nothing', ''],
])('a file with %s does not open', async (_name, content) => {
  const own = await mkdtemp(join(tmpdir(), 'geoip-'));
  onTestFinished(() => rm(own, { recursive: true, force: true }));
  await writeFile(join(own, 'bad.mmdb'), content);
  const { find, test: run } = lookup('geoip', { database: 'bad.mmdb' }, [own]);
  await expect(find('8.8.8.8')).rejects.toMatchObject({ code: 'invalid_config', kind: 'permanent' });
  expect(await run()).toMatchObject({ ok: false, issues: [{ path: '/settings/database' }] });
});
