import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from './build/compile.js';
import { CONNECTOR_KINDS } from './connector-kinds.js';
import { buildIcons } from './build/icons/build-icons.js';
import { readSources } from './build/read-sources.js';
import { writeCatalog } from './build/write-catalog.js';
import { readCatalog, type Catalog } from './read-catalog.js';

describe('readCatalog', () => {
  const directory = mkdtempSync(join(tmpdir(), 'catalog-'));
  let catalog: Catalog;

  beforeAll(async () => {
    const sources = readSources(fileURLToPath(new URL('..', import.meta.url)));
    const { icons, problems } = await buildIcons(sources.icons);
    expect(problems).toEqual([]);
    writeCatalog(directory, compile(sources).types, icons);
    catalog = readCatalog(directory);
  });

  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  it('lists the types of a kind sorted by name, and returns a type by its ID', () => {
    for (const kind of CONNECTOR_KINDS) {
      const names = catalog.list(kind).map(({ name }) => name);
      expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, 'en')));
      for (const type of catalog.list(kind)) expect(catalog.get(kind, type.type_id)).toBe(type);
    }
    expect(catalog.get('input', 's3')).not.toBe(catalog.get('output', 's3'));
    expect(catalog.get('enrichment', 'kv-lookup')?.kind).toBe('enrichment');
    expect(catalog.get('input', 'splunk')).toBeUndefined();
    expect(catalog.get('input', '__proto__')).toBeUndefined();
  });

  it('returns the icon of the vendor for a type, or undefined if it has none', () => {
    expect(catalog.iconName('cloudtrail')).toBe('aws');
    expect(catalog.icon('cloudtrail')).toMatch(/^<svg /);
    expect(catalog.icon('cloudtrail')).toBe(catalog.icon('s3'));
    expect(catalog.icon('dev-null')).toBeUndefined();
    expect(catalog.icon('../catalog')).toBeUndefined();
    for (const kind of CONNECTOR_KINDS)
      for (const type of catalog.list(kind))
        expect(catalog.icon(type.type_id) === undefined).toBe(type.icon === undefined);
  });

  it('returns frozen objects', () => {
    const type = catalog.get('input', 'okta-systemlog');
    expect(Object.isFrozen(type?.config.settings.properties['org_url'])).toBe(true);
    expect(Object.isFrozen(catalog.list('input'))).toBe(true);
  });

  it('throws an error with the build command if the catalog is missing', () => {
    expect(() => readCatalog(join(directory, 'nowhere'))).toThrow('npm run build -w packages/catalog');
  });
});
