/** Builds every package: types and JavaScript by tsc, then the catalog's data, the form's page, and the demo's pages. */
import { ensurePackages } from './lib/ensure-packages.mjs';
import { build } from './lib/build.mjs';

await ensurePackages();
process.exit((await build()) ? 0 : 1);
