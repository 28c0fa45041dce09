/**
 * `npm run type-table`: writes docs/connector-types.md from the last build of the catalog and the
 * engine.
 */
import { writeFileSync } from 'node:fs';
import { CONNECTOR_KINDS, loadCatalog } from '@connector-frame/catalog';
import { connectors } from '@connector-frame/connectors';
import { page, typeTable } from './lib/type-table.mjs';

const catalog = loadCatalog();
const types = CONNECTOR_KINDS.flatMap((kind) => catalog.list(kind));
writeFileSync(page, await typeTable(types, connectors));
console.log(`${page}: ${String(types.length)} types`);
