import { createEmbeddedCoordinator } from '@connector-frame/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock, runCoordinatorContract } from '../../../../test/support/coordinator-contract.js';
import { eachDatabase } from '../../../../test/support/databases.js';
import type { Database } from './database.js';
import { createEngineLeases } from './engine-leases.js';
import { createEngineState } from './engine-state.js';

describe.each(eachDatabase())('engine state on $name', (databases) => {
  let database: Database;
  beforeAll(async () => {
    database = await databases.open();
  });
  afterAll(async () => {
    await database.close();
    await databases.close();
  });

  const fence = { token: 1, onLost: () => undefined };
  describe.each([
    ['without a fence', undefined],
    ['fenced by a held lease', fence],
  ])('%s', (name, given) => {
    runCoordinatorContract(`${databases.name} ${name}`, async () => {
      await database.script((run) => run('delete from engine_state'));
      await createEngineLeases(database.queries).acquire('holder', 60_000);
      const clock = new ManualClock();
      // Each has its own queue of requests, like two processes.
      const open = () =>
        createEmbeddedCoordinator({ store: createEngineState(database.queries, given), now: () => clock.now() });
      return {
        one: open(),
        other: open(),
        pass: (ms) => Promise.resolve(clock.advance(ms)),
        restart: () => Promise.resolve(open()),
        close: () => Promise.resolve(),
      };
    });
  });

  it('returns values with special characters unchanged', async () => {
    const state = createEngineState(database.queries);
    const value = { b: 1, a: ['\u0000', '\ud800', 'ü', 1e300, null], '%_\\': "'" };
    expect(await state.compareAndSet('x:1/', 0, value)).toBe(1);
    expect(await state.get('x:1/')).toEqual({ version: 1, value });
    expect(JSON.stringify((await state.get('x:1/'))?.value)).toBe(JSON.stringify(value));
  });

  it('returns the same results for concurrent operations as for sequential ones', async () => {
    const state = createEngineState(database.queries);
    const keys = Array.from({ length: 1_200 }, (_, n) => `many:${n}/`);
    expect(new Set(await Promise.all(keys.map((key) => state.compareAndSet(key, 0, key))))).toEqual(new Set([1]));
    const changed = await Promise.all(keys.map((key, n) => state.compareAndSet(key, n % 3, n)));
    expect(changed.filter((version) => version === 2)).toHaveLength(400);
    expect(changed.filter((version) => version === undefined)).toHaveLength(800);
    expect((await Promise.all(keys.map((key) => state.get(key)))).map((stored) => stored?.version)).toEqual(
      keys.map((_, n) => (n % 3 === 1 ? 2 : 1)),
    );
    // A missing key can't be replaced, and only one of several concurrent inserts succeeds.
    expect(await state.compareAndSet('many:none/', 1, 'x')).toBeUndefined();
    expect(await state.get('many:none/')).toBeUndefined();
    const twice = await Promise.all([1, 2, 3].map((n) => state.compareAndSet('twice:/', 0, n)));
    expect(twice.filter((version) => version !== undefined)).toHaveLength(1);
    await state.put(new Map(keys.map((key) => [key, { token: 3 }])));
    expect(await state.get('many:7/')).toMatchObject({ value: { token: 3 } });
    // A value with a higher token, written by a later process, is kept.
    await state.put(new Map([2, 3, 4].map((token) => [`many:${token}/`, { token, late: true }])));
    expect(await state.get('many:2/')).toMatchObject({ value: { token: 3 } });
    for (const token of [3, 4])
      expect(await state.get(`many:${token}/`)).toMatchObject({ value: { token, late: true } });
    expect(await state.keys('many:1/')).toEqual(['many:1/']);
    await state.removeAll('many:');
    expect(await state.keys('many:')).toEqual([]);
    expect(await state.get('twice:/')).toBeDefined();
  });
});
