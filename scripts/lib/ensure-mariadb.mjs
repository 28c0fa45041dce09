import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

/** Ensures that the tests can start a MariaDB server. */
export const ensureMariadb = () =>
  ensureProgram({
    name: 'MariaDB',
    find: () => ['mariadbd', 'mariadb-install-db'].every((name) => onPath(name) ?? onPath(`/usr/sbin/${name}`)),
    packages: ['mariadb-server'],
    purpose: 'the tests with a MariaDB server',
    advice: 'macOS: brew install mariadb',
  });
