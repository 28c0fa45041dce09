import { existsSync, readdirSync } from 'node:fs';
import { root } from './root.mjs';

/** Returns every test file, as paths relative to the repository with forward slashes. */
export function testFiles() {
  const packages = readdirSync(`${root}packages`).map((name) => `packages/${name}/src`);
  return [...packages, 'demo/src', 'test/browser', 'test/unit']
    .filter((folder) => existsSync(root + folder))
    .flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.test\.tsx?$/.test(file))
        .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
    )
    .sort();
}
