/** Build step: compresses the files for browsers, so that a service starts without doing it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBuiltFiles } from './built-files.js';
import { COMPRESSED, compressedName } from './compressed-files.js';

rmSync(COMPRESSED, { recursive: true, force: true });
const { form, dropIn } = await loadBuiltFiles();
mkdirSync(COMPRESSED, { recursive: true });
const scripts = Object.values(dropIn.scripts).map(({ script }) => script);
for (const asset of [...form.files.values(), ...scripts, dropIn.licences])
  for (const encoding of ['br', 'gzip'] as const)
    writeFileSync(join(COMPRESSED, compressedName(asset.identity, encoding)), asset[encoding]);
