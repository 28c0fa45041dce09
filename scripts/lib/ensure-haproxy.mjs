import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

/** Ensures that tests can start the proxies of deploy/ and of several processes. */
export const ensureHaproxy = () =>
  ensureProgram({
    name: 'HAProxy',
    find: () => onPath('haproxy') !== undefined,
    packages: ['haproxy'],
    purpose: 'the tests with a proxy',
  });
