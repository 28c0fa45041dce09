import { ensureProgram } from './ensure-program.mjs';
import { onPath } from './on-path.mjs';

/**
 * Ensures that `kcat` is installed. The Kafka tests use it as an independent client, and the mock
 * brokers of its library.
 */
export const ensureKcat = () =>
  ensureProgram({
    name: 'kcat',
    find: () => onPath('kcat'),
    packages: ['kcat'],
    purpose: 'the tests with a Kafka cluster',
    advice: 'macOS: brew install kcat',
  });
