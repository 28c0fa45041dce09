import { build } from '../build.mjs';
import { root } from '../root.mjs';
import { run } from '../run.mjs';

const isTest = (path) => path.startsWith('test/') || /\.test\.tsx?$/.test(path);
const isForm = (path) => path.startsWith('packages/form/');
const isServer = (path) =>
  /^(packages\/(service|engine|connectors|host)|demo\/src\/(server\/|[^/]+$)|packages\/catalog\/src)/.test(path);

/**
 * Builds what the changed files affect, by the shortest way. Resolves to whether that succeeded.
 * @param paths changed files, relative to the repository
 */
export async function rebuild(paths) {
  const sources = paths.filter((path) => !isTest(path));
  if (sources.every(isForm)) return sources.length === 0 || buildForm();
  if (sources.every(isServer)) return (await run(process.execPath, [tsc, '-b', 'demo'])) === 0;
  return build({ only: ['demo'] });
}

const tsc = `${root}node_modules/typescript/bin/tsc`;

async function buildForm() {
  const { build: bundle } = await import('vite');
  try {
    await bundle({ configFile: `${root}vite.config.ts`, mode: 'form', logLevel: 'warn' });
    return true;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return false;
  }
}
