import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { loadBuiltFiles } from './built-files.js';
import { COMPRESSED, compressed, compressedName } from './compressed-files.js';

const content = Buffer.from('connector '.repeat(200));

it('takes what the build compressed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'compressed-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, compressedName(content, 'br')), 'built');
  expect(Buffer.from(compressed(content, 'br', folder)).toString()).toBe('built');
  // The same content in another encoding, and other content.
  expect(gunzipSync(compressed(content, 'gzip', folder)).equals(content)).toBe(true);
  const other = Buffer.concat([content, Buffer.from('.')]);
  expect(brotliDecompressSync(compressed(other, 'br', folder)).equals(other)).toBe(true);
});

it('finds every file of this build', async () => {
  const { form, dropIn } = await loadBuiltFiles();
  const assets = [...form.files.values(), ...Object.values(dropIn.scripts).map(({ script }) => script)];
  const names = await readdir(COMPRESSED);
  for (const { identity, br, gzip } of [...assets, dropIn.licences]) {
    expect(names).toEqual(expect.arrayContaining([compressedName(identity, 'br'), compressedName(identity, 'gzip')]));
    expect(brotliDecompressSync(br).equals(identity)).toBe(true);
    expect(gunzipSync(gzip).equals(identity)).toBe(true);
  }
});
