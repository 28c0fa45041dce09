import { relative } from 'node:path';
import chokidar from 'chokidar';
import { root } from '../root.mjs';
import { run } from '../run.mjs';
import { say } from '../say.mjs';
import { rebuild } from './rebuild.mjs';
import { createServing } from './serving.mjs';

/** Time in which changes are collected, in milliseconds: an editor or Git writes many files at once. */
const COLLECT_MS = 60;

/** Starts the service and the demo, and follows the sources. Resolves once both accept requests. */
export async function startDev() {
  const serving = createServing();
  const changed = new Set();
  let timer;
  let working = Promise.resolve();
  let isClosed = false;

  async function work() {
    const paths = [...changed];
    changed.clear();
    if (isClosed || paths.length === 0) return;
    const begun = performance.now();
    say(`Changed: ${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ` and ${paths.length - 3} more` : ''}`);
    if (!(await rebuild(paths))) say('The build failed: the last working state keeps running');
    else if (!isClosed) {
      try {
        await serving.start();
        say(`Restarted and reloaded after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
      } catch (error) {
        say(`${error.message} The next change starts it again.`);
      }
    }
    // A newer change checks types itself.
    if (!isClosed && changed.size === 0) await checkTypes();
  }

  const [{ hostUrl, serviceUrl }, watcher] = await Promise.all([
    serving.start(),
    watch((path) => {
      changed.add(path);
      clearTimeout(timer);
      timer = setTimeout(() => (working = working.then(work)), COLLECT_MS);
    }),
  ]);
  working = working.then(checkTypes);

  return {
    hostUrl,
    serviceUrl,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await watcher.close();
      await working;
      await serving.stop();
    },
  };
}

async function checkTypes() {
  const passed = (await run(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-b'])) === 0;
  say(passed ? 'Types: no errors' : 'Types: errors, see above');
}

/** Folders whose files are never a reason to build. */
const ignored = /(^|\/)(node_modules|dist|\.data)(\/|$)|\.(md|tsbuildinfo)$/;

const pathOf = (file) => relative(root, file).replaceAll('\\', '/');

/** Calls back with the path of each source file that was written, created or deleted. */
async function watch(onChange) {
  const watcher = chokidar.watch(
    ['packages', 'demo', 'test', 'vite.config.ts', 'scripts/vite'].map((folder) => root + folder),
    { ignored: (file) => ignored.test(pathOf(file)), ignoreInitial: true },
  );
  for (const event of ['add', 'change', 'unlink']) watcher.on(event, (file) => onChange(pathOf(file)));
  await new Promise((resolve) => watcher.once('ready', resolve));
  return watcher;
}
