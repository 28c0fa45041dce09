import { expect, onTestFinished, test } from 'vitest';
import { startJetStream } from '../../../../../test/support/brokers/jetstream.js';
import { longOr } from '../../../../../test/support/long.js';
import { killBus } from '../../testing/kill-bus.js';
import { seededRandom } from '../../testing/random.js';

test(
  'process and server killed at random: nothing acknowledged is lost, a repeat is known',
  async () => {
    const server = await startJetStream();
    onTestFinished(() => server.close());
    const restart = async (): Promise<void> => {
      await server.kill();
      await server.start();
    };
    const result = await killBus(longOr(200, 4), seededRandom(Date.now()), {
      url: server.url,
      restart,
    });
    expect(result.acknowledged).toBeGreaterThan(50);
    expect(result).toMatchObject({ lost: [], forgotten: [], damaged: 0 });
    // At most one batch per kill of the process: delivered but not yet acknowledged.
    expect(result.repeated).toBeLessThanOrEqual(result.kills);
    // What is not kept is counted. Batches in progress during a kill may be stored or counted without
    // being acknowledged; eight are in progress, and each kill of the server adds as many.
    expect(result.kept + result.dropped).toBeGreaterThanOrEqual(result.acknowledged);
    expect(result.kept + result.dropped).toBeLessThanOrEqual(result.acknowledged + 16 * result.kills);
  },
  longOr(3_600_000, 300_000),
);
