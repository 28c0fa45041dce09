import type { PollDefinition } from '@connector-frame/catalog';
import { expect, test } from 'vitest';
import { Driver, type PollWorld } from './poll-driver.js';
import type { PollVendor } from './vendors/poll-vendor.js';

export const MINUTE = 60_000;

export interface PollWorlds {
  open: (pageSize?: number) => Promise<PollWorld>;
  /** Opens a world with ten events from the last minutes. */
  filled: (pageSize?: number) => Promise<PollWorld>;
}

/**
 * Defines the behavior for vendors whose log is read from a cursor: each event is delivered exactly
 * once, whenever it is read.
 */
export function testLog(vendor: PollVendor, poll: PollDefinition, { open, filled }: PollWorlds): void {
  test('then reads only new events, including events with the same timestamp as the last and late ones', async () => {
    const world = await filled();
    const driver = Driver.of(world);
    await driver.poll();
    await driver.poll();
    world.happen(4 * MINUTE - 20_000, true);
    world.advance(3 * MINUTE);
    world.happen();
    await driver.poll();
    world.happen();
    world.happen(2 * MINUTE, true);
    await driver.poll();
    world.advance(5 * MINUTE);
    await driver.poll();
    expect(driver.numbers).toEqual(world.numbers);
  });

  test('reads on over weeks, also without events', async () => {
    const world = await filled();
    const driver = Driver.of(world);
    await driver.poll();
    for (const days of [1, 9, 40]) {
      world.advance(days * 24 * 60 * MINUTE);
      world.happen();
      world.advance(3 * MINUTE);
      await driver.poll();
    }
    expect(driver.numbers).toEqual(world.numbers);
  });

  test('reads events that arrive during pagination', async () => {
    const world = await filled();
    const driver = Driver.of(world);
    for (let round = 0; round < 30; round += 1) {
      if (round < 8) world.happen(round * 1_000, true);
      await driver.poll(2 + round);
      world.advance(MINUTE / 2);
    }
    expect(driver.numbers).toEqual(world.numbers);
  });

  test.each([1, 2, 3, 4, 5])('loses and repeats nothing when stopped after page %i', async (pages) => {
    const world = await filled();
    const driver = Driver.of(world);
    await driver.poll(pages);
    driver.restart();
    world.happen(MINUTE, true);
    await driver.poll();
    world.advance(5 * MINUTE);
    driver.restart();
    await driver.poll();
    expect(driver.numbers).toEqual(world.numbers);
  });

  test.each([-4, 4])("loses nothing with a clock %i minutes ahead of the vendor's", async (minutes) => {
    const world = await open();
    world.skew = minutes * MINUTE;
    const driver = Driver.of(world);
    await driver.poll();
    for (let round = 0; round < 5; round += 1) {
      world.happen();
      world.advance(MINUTE);
      await driver.poll();
    }
    world.advance(10 * MINUTE);
    await driver.poll();
    expect(driver.numbers).toEqual(world.numbers);
  });

  test.runIf(vendor.anyClock !== false)('loses nothing if the clock jumps forty minutes ahead and back', async () => {
    const world = await filled();
    const driver = Driver.of(world);
    await driver.poll();
    for (const minutes of [40, 0, -40]) {
      world.clock.ms += minutes * MINUTE - world.skew;
      world.skew = minutes * MINUTE;
      for (let round = 0; round < 3; round += 1) {
        world.happen();
        world.advance(MINUTE);
        await driver.poll();
      }
    }
    world.advance(50 * MINUTE);
    await driver.poll();
    expect(driver.numbers).toEqual(world.numbers);
  });

  const start = poll.streams[0]?.cursor;
  test.runIf(start && 'start' in start && start.start !== undefined)('starts at the configured time', async () => {
    const world = await open();
    for (const days of [100, 60.1, 59, 31, 12, 3]) world.happen(days * 24 * 60 * MINUTE);
    const since = new Date(world.vendorNow() - 60 * 24 * 60 * MINUTE).toISOString();
    const { settings, secrets } = vendor.config;
    const driver = Driver.of(world, { settings: { ...settings, backfill_start_time: since }, secrets });
    await driver.poll();
    expect(driver.numbers).toEqual([3, 4, 5, 6]);
  });

  test('keeps the cursor small', async () => {
    const world = await open(1_000);
    const driver = Driver.of(world);
    await driver.poll();
    for (let index = 0; index < 3_000; index += 1) world.happen(Math.floor(index / 15) * 1_000, true);
    world.advance(3 * MINUTE);
    await driver.poll();
    expect(driver.cursor.length).toBeLessThan(500_000);
    world.advance(24 * 60 * MINUTE);
    world.happen();
    world.advance(3 * MINUTE);
    await driver.poll();
    expect(driver.cursor.length).toBeLessThan(80_000);
    expect(driver.numbers).toEqual(world.numbers);
  });
}
