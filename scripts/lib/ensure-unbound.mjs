import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

/** Ensures that the tests can start a name server that sends dnstap messages. */
export const ensureUnbound = () =>
  ensureProgram({
    name: 'Unbound',
    find: () => onPath('unbound') ?? onPath('/usr/sbin/unbound'),
    packages: ['unbound'],
    purpose: 'the test with a name server',
    advice: 'macOS: brew install unbound',
  });
