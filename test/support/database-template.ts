import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Folder of database templates kept between runs: creating a database takes seconds, copying one
 * does not.
 */
export const templateFolder = join(root, 'node_modules/.cache/connector-frame');

/**
 * Returns a key that changes with the version of the database and with every migration.
 * @param name package of the database
 */
export function templateKey(migrations: readonly object[], name: string): string {
  const lock: { packages: Record<string, unknown> } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const version = lock.packages[`node_modules/${name}`];
  return createHash('sha256')
    .update(JSON.stringify([version, migrations]))
    .digest('hex')
    .slice(0, 16);
}
