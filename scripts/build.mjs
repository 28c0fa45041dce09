/**
 * Builds every package: types and JavaScript with tsc, then the data of the catalog, the page of
 * the form, and the pages of the demo.
 */
import { ensurePackages } from './lib/ensure-packages.mjs';
import { build } from './lib/build.mjs';

await ensurePackages();
process.exit((await build()) ? 0 : 1);
