/**
 * `npm run dev`: starts what `npm start` starts, and follows the sources. After a change it builds
 * the affected packages, restarts the service and the demo, reloads open pages, and checks types.
 *
 * Takes the environment variables of `npm start`. `DATA_DIR` defaults to `.data`, which both share.
 */
import { build } from './lib/build.mjs';
import { ensurePackages } from './lib/ensure-packages.mjs';
import { startDev } from './lib/dev/start-dev.mjs';
import { say } from './lib/say.mjs';

const begun = performance.now();
await ensurePackages();
if (!(await build({ only: ['demo'] }))) process.exit(1);
const dev = await startDev();
say(`Ready after ${((performance.now() - begun) / 1000).toFixed(1)} s: ${dev.hostUrl} and ${dev.serviceUrl}`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void dev.close().then(() => process.exit(0)));
