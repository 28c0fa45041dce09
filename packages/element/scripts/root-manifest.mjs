/**
 * The manifest for the repository's root, where the files have other paths. Run, it writes `custom-elements.json` there from the package's own, which
 * `cem analyze` made.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

const here = new URL('../dist/custom-elements.json', import.meta.url);
export const committed = new URL('../../../custom-elements.json', import.meta.url);

/** The text of it. */
export function rootManifest(manifest = here) {
  const text = readFileSync(manifest, 'utf8');
  return text.replaceAll(/("(?:path|module)": ")\/?dist\//g, '$1packages/element/dist/');
}

if (argv[1] === fileURLToPath(import.meta.url)) writeFileSync(committed, rootManifest());
