import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

/** Makes sure that `kcat` is there: the tests of Kafka use it as another client, and the mock brokers inside of its library. */
export const ensureKcat = () =>
  ensureProgram({
    name: 'kcat',
    find: () => onPath('kcat'),
    packages: ['kcat'],
    purpose: 'the tests of Kafka',
    advice: 'Install kcat (Debian: apt-get install kcat) and run npm test again.',
  });
