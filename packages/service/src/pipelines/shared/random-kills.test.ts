import { expect, it, onTestFinished } from 'vitest';
import { long, longOr } from '../../../../../test/support/long.js';
import { kill, startKillWorld, type KillWorld, type Victim } from '../../../../../test/support/topology/kill-world.js';

/**
 * Two replicas behind a proxy and two workers share the pipelines of a real PostgreSQL. What senders and
 * the receiver have seen is compared, and a trigger of the database records every change of a lease.
 */
const KILLS = longOr(200, 3);
const VICTIMS: readonly Victim[] = ['worker', 'PostgreSQL', 'replica'];

async function start(options: { shiftsClocks?: boolean } = {}): Promise<KillWorld> {
  const world = await startKillWorld(options);
  onTestFinished(() => world.close());
  await world.taken();
  return world;
}

it(
  `loses nothing acknowledged in ${KILLS} kills of workers, replicas and PostgreSQL, and keeps the order`,
  async () => {
    const world = await start();
    for (let done = 0; done < KILLS; done += 1) {
      await world.flow(100);
      // The short run kills one of each kind.
      const victim = VICTIMS[longOr(Math.floor(Math.random() * VICTIMS.length), done)] ?? 'worker';
      await kill(world, victim, { waits: done % 3 === 0 });
    }
    await world.flow(100);
    const result = await world.result();
    expect(result).toMatchObject({ lost: [], early: [], violations: [] });
    expect(result.acknowledged).toBeGreaterThan(KILLS * 100);
    // At least the pipelines of the first worker went to the other one.
    expect(result.moves).toBeGreaterThan(longOr(0, 4));
    // Of each pipeline, a kill repeats at most the batch that was being written.
    expect(result.repeated).toBeLessThanOrEqual(KILLS);
  },
  longOr(7_200_000, 300_000),
);

it.runIf(long)(
  'delivers in order, and takes over, while the clocks of a replica and a worker are hours off',
  async () => {
    const world = await start({ shiftsClocks: true });
    const [HOUR, of] = [3_600_000, (name: string) => world.topology.members.find((each) => each.name === name)];
    for (const hours of [3, -3, 0]) {
      await of('replica-1')?.shift(hours * HOUR);
      await of('worker-1')?.shift(-hours * HOUR);
      await world.flow(300);
      await kill(world, 'worker', { waits: true });
      await world.flow(300);
    }
    const result = await world.result();
    expect(result).toMatchObject({ lost: [], early: [], violations: [] });
    expect(result.repeated).toBeLessThanOrEqual(3);
  },
);
