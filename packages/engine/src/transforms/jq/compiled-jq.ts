import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

let compiled: Promise<WebAssembly.Module> | undefined;

/** jq as WebAssembly, compiled once for all threads of the process. */
export function compiledJq(): Promise<WebAssembly.Module> {
  compiled ??= compile();
  // What failed, for want of memory perhaps, may go another time.
  compiled.catch(() => (compiled = undefined));
  return compiled;
}

/** The package carries the binary as text inside its code and hands it out in no other way. */
async function compile(): Promise<WebAssembly.Module> {
  const path = createRequire(import.meta.url).resolve('jq-wasm/dist/build/jq.js');
  const binary = /"data:application\/octet-stream;base64,([A-Za-z0-9+/=]+)"/.exec(await readFile(path, 'utf8'))?.[1];
  if (binary === undefined) throw new Error('jq-wasm does not carry its binary as this expects.');
  return WebAssembly.compile(Buffer.from(binary, 'base64'));
}
