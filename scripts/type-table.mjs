/**
 * `npm run type-table`: writes docs/connector-types.md from the last build of the catalog and the
 * engine.
 */
import { writeFileSync } from 'node:fs';
import { loadCatalog } from '@connector-frame/catalog';
import { connectors } from '@connector-frame/connectors';
import { page, typeTable } from './lib/type-table.mjs';

const catalog = loadCatalog();
const types = [...catalog.list('input'), ...catalog.list('output')];
writeFileSync(page, await typeTable(types, connectors));
console.log(`${page}: ${String(types.length)} types`);
