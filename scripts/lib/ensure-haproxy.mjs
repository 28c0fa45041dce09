import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

/** Ensures that the long run can start the proxy of deploy/compose.yaml. */
export const ensureHaproxy = () =>
  ensureProgram({
    name: 'HAProxy',
    find: () => onPath('haproxy') !== undefined,
    packages: ['haproxy'],
    purpose: 'the tests of deploy/ with a proxy',
  });
