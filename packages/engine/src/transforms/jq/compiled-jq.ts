import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

let compiled: Promise<WebAssembly.Module> | undefined;

/** Returns jq as a WebAssembly module, compiled once for all threads of the process. */
export function compiledJq(): Promise<WebAssembly.Module> {
  compiled ??= compile();
  // Do not cache a failure: a retry may succeed, for example after running out of memory.
  compiled.catch(() => (compiled = undefined));
  return compiled;
}

/**
 * Extracts the binary from the package's source, which embeds it as base64 and does not export it.
 */
async function compile(): Promise<WebAssembly.Module> {
  const path = createRequire(import.meta.url).resolve('jq-wasm/dist/build/jq.js');
  const binary = /"data:application\/octet-stream;base64,([A-Za-z0-9+/=]+)"/.exec(await readFile(path, 'utf8'))?.[1];
  if (binary === undefined) throw new Error('jq-wasm does not carry its binary as this expects.');
  return WebAssembly.compile(Buffer.from(binary, 'base64'));
}
