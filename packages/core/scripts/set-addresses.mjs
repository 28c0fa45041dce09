/** Writes the default addresses of this build into `dist/addresses.js`, from the environment or else from the source. */
import { readFile, writeFile } from 'node:fs/promises';

const file = new URL('../dist/addresses.js', import.meta.url);

/** Constant in `src/addresses.ts` -> environment variable. */
const names = { EMBED_URL: 'CONNECTOR_FRAME_EMBED_URL', BASE_URL: 'CONNECTOR_FRAME_BASE_URL' };

let code = await readFile(file, 'utf8');
const source = await readFile(new URL('../src/addresses.ts', import.meta.url), 'utf8');
for (const [constant, variable] of Object.entries(names)) {
  const pattern = new RegExp(`(export const ${constant}(?:: string)? = )'([^']*)'`);
  const address = process.env[variable] || source.match(pattern)?.[2];
  if (!address || !URL.canParse(address))
    throw new Error(`${variable} is "${address}"; it takes an address such as https://embed.example.com`);
  code = code.replace(pattern, (_all, start) => `${start}'${new URL(address).href.replace(/\/+$/, '')}'`);
}
await writeFile(file, code);
