import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadFormAssets, type FormAssets } from '../../packages/service/src/embed/form-assets.js';

export const BOOT = "parent.postMessage({ source: 'monad-embed', type: 'ready', version: 1 }, '*');";
export const SCRIPT = `export const filler = ${JSON.stringify('connector '.repeat(400))};`;

/** Writes a minimal built form to a new folder: the page, an inline script, a module. */
export async function writeForm(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'form-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(
    join(folder, 'index.html'),
    `<!doctype html><html><head><meta name="api-bases" content="[]" />
<script type="module" crossorigin src="./assets/form-1a2b.js"></script></head><body><script>${BOOT}</script></body></html>`,
  );
  await writeFile(join(folder, 'assets', 'form-1a2b.js'), SCRIPT);
  await writeFile(join(folder, 'assets', 'form-1a2b.js.map'), '{"sourcesContent":[]}');
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Loads the assets of such a form. */
export async function formAssets(): Promise<FormAssets> {
  const { folder, remove } = await writeForm();
  const assets = await loadFormAssets(folder);
  await remove();
  return assets;
}
