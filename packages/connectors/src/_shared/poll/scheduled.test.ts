import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Driver, PollWorld } from '../../../../../test/support/poll-driver.js';
import { tailscale } from '../../../../../test/support/vendors/tailscale.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Tailscale is read at minute 0 of every hour. The test begins at 12:00. */
describe('an input with a schedule', () => {
  let world: PollWorld;
  let driver: Driver;
  beforeEach(async () => {
    world = await PollWorld.open(tailscale);
    onTestFinished(() => world.close());
    world.happen(MINUTE);
    driver = Driver.of(world);
    await driver.poll();
    expect(runs()).toBe(1);
  });
  /** The device is returned by each run. */
  const runs = (): number => driver.delivered.length;
  async function after(ms: number): Promise<number> {
    world.advance(ms);
    await driver.poll();
    await driver.poll();
    return runs();
  }

  test('is read once at each due minute', async () => {
    expect(await after(59 * MINUTE)).toBe(1);
    expect(await after(MINUTE)).toBe(2);
    expect(await after(59 * MINUTE)).toBe(2);
    expect(await after(2 * MINUTE)).toBe(3);
  });

  test('is read once for all the runs that were missed, also after a restart', async () => {
    driver.restart();
    expect(await after(30 * MINUTE)).toBe(1);
    driver.restart();
    expect(await after(10 * HOUR)).toBe(2);
  });

  test('is read at once on request, and then at the next due minute', async () => {
    expect(await after(10 * MINUTE)).toBe(1);
    await driver.poll(undefined, true);
    expect(runs()).toBe(2);
    expect(await after(49 * MINUTE)).toBe(2);
    expect(await after(MINUTE)).toBe(3);
  });

  test('does not repeat a run when the clock is put back', async () => {
    expect(await after(HOUR)).toBe(2);
    expect(await after(-30 * MINUTE)).toBe(2);
    expect(await after(30 * MINUTE)).toBe(2);
    expect(await after(HOUR)).toBe(3);
  });

  test('does not wait for a time that a wrong clock has recorded', async () => {
    expect(await after(400 * 24 * HOUR)).toBe(2);
    expect(await after(-400 * 24 * HOUR)).toBe(3);
    expect(await after(59 * MINUTE)).toBe(3);
    expect(await after(MINUTE)).toBe(4);
  });
});
