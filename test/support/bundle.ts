import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

interface BundleOptions {
  minify?: boolean;
  /** Packages to replace: `{ react: '/path/to/react-18' }`. */
  alias?: Record<string, string>;
  /** `node` for code that renders on a server. Default: `browser`. */
  platform?: 'browser' | 'node';
  /** Whether to use the development builds of dependencies, as a dev server does. */
  development?: boolean;
}

/** Bundles the code of a test page from the packages' sources, as a host's own build would. */
export async function bundle(
  code: string,
  { minify = false, alias = {}, platform = 'browser', development = false }: BundleOptions = {},
) {
  const result = await build({
    stdin: { contents: code, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
    bundle: true,
    minify,
    alias,
    platform,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    conditions: development ? ['source', 'development'] : ['source'],
    define: vueFlags,
    write: false,
    ...(platform === 'node' && { banner: { js: nodeBanner } }),
  });
  return result.outputFiles[0]?.text ?? '';
}

// Feature flags that Vue requires. A host may disable the options API.
const vueFlags = {
  __VUE_OPTIONS_API__: 'false',
  __VUE_PROD_DEVTOOLS__: 'false',
  __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
};

// CommonJS modules in the bundle call `require` for Node's built-in modules.
const nodeBanner = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;
