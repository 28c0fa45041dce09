import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

/** Bundles the code of a test page from the packages' sources, as a host's own build would. */
export async function bundle(code: string, options: { minify?: boolean } = {}): Promise<string> {
  const result = await build({
    stdin: { contents: code, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
    bundle: true,
    minify: options.minify ?? false,
    format: 'esm',
    target: 'es2022',
    conditions: ['source'],
    write: false,
  });
  return result.outputFiles[0]?.text ?? '';
}
