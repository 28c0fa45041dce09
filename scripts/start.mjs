/** `npm start`: installs and builds what is missing, then starts the service and the demo host. */
import { ensurePackages } from './lib/ensure-packages.mjs';
import { build } from './lib/build.mjs';
import { root } from './lib/root.mjs';

await ensurePackages();
if (!(await build({ only: ['demo'] }))) process.exit(1);
await import(`${root}demo/dist/start.js`);
