import { readFileSync } from 'node:fs';
import type { ConnectorTypeData } from '@connector-frame/catalog';
import { expect, test } from 'vitest';
import { connectors, type Connectors } from '../../packages/connectors/src/index.js';
import { allTypes } from '../support/connectors.js';

interface Script {
  page: string;
  typeTable(types: ConnectorTypeData[], connectors: Connectors): Promise<string>;
}

test('the table of connector types matches the catalog', async () => {
  const { page, typeTable }: Script = await import(new URL('../../scripts/lib/type-table.mjs', import.meta.url).href);
  const stale = readFileSync(page, 'utf8') !== (await typeTable(allTypes(), connectors));
  expect(stale, 'docs/connector-types.md is outdated; run `npm run type-table`').toBe(false);
});
