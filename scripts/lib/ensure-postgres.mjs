import { existsSync, readdirSync } from 'node:fs';
import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

/**
 * Ensures that the tests can start a PostgreSQL server: from `PATH`, from Debian's folders, or by
 * installing it.
 */
export const ensurePostgres = () =>
  ensureProgram({
    name: 'PostgreSQL',
    find,
    packages: ['postgresql'],
    purpose: 'the tests on PostgreSQL',
    advice: 'Version 15 or later; initdb and postgres must be on the path.',
  });

function find() {
  const debian = '/usr/lib/postgresql';
  if (onPath('initdb') && onPath('postgres')) return true;
  return existsSync(debian) && readdirSync(debian).some((version) => existsSync(`${debian}/${version}/bin/initdb`));
}
