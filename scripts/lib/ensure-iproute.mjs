import { existsSync } from 'node:fs';
import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

/**
 * Ensures that tests can set up a network namespace with `ip`. If it is missing and can't be
 * installed, those tests are skipped.
 */
export const ensureIproute = () =>
  ensureProgram({
    name: 'iproute2',
    find: () => process.platform !== 'linux' || onPath('ip') !== undefined || existsSync('/usr/sbin/ip'),
    packages: ['iproute2'],
    purpose: 'the tests that run in a network namespace of their own',
  });
