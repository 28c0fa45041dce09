/**
 * Writes the default addresses to `dist/addresses.js`: those in the environment, or none.
 */
import { readFile, writeFile } from 'node:fs/promises';

const file = new URL('../dist/addresses.js', import.meta.url);

/** Constant in `src/addresses.ts` -> environment variable. */
const names = { EMBED_URL: 'CONNECTOR_FRAME_EMBED_URL', BASE_URL: 'CONNECTOR_FRAME_BASE_URL' };

let code = await readFile(file, 'utf8');
for (const [constant, variable] of Object.entries(names)) {
  const address = process.env[variable] ?? '';
  if (address && !URL.canParse(address)) {
    throw new Error(`${variable} is "${address}". Set it to a URL such as https://connect.example.com/embed.`);
  }
  const value = address && new URL(address).href.replace(/\/+$/, '');
  // The last build may have written another address.
  code = code.replace(new RegExp(`(export const ${constant} = )'[^']*'`), (_all, start) => `${start}'${value}'`);
}
await writeFile(file, code);
