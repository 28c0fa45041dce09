/**
 * Builds every package: types and JavaScript with tsc, then the data of the catalog, the page of
 * the form, and the pages of the demo. `node scripts/build.mjs packages/service` builds that package
 * and those that it depends on.
 */
import { ensurePackages } from './lib/ensure-packages.mjs';
import { build } from './lib/build.mjs';

await ensurePackages();
const only = process.argv.slice(2);
process.exit((await build(only.length > 0 ? { only } : {})) ? 0 : 1);
