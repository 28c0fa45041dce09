import { expect, test } from 'vitest';
import type { SchemaState, SchemaUpdate } from './edge-schema.js';
import { EdgeSchemas } from './edge-schemas.js';

const HOUR = 3_600_000;

/** Observes one edge with a clock of its own. */
function openEdge(stored?: SchemaState) {
  const clock = { now: Date.UTC(2026, 0, 1) };
  const schemas = new EdgeSchemas(() => clock.now);
  schemas.watch(['e'], new Map(stored && [['e', stored]]));
  return {
    clock,
    schemas,
    observe: (...records: object[]) => schemas.observe('e', JSON.parse(JSON.stringify(records))),
    take: (isLast?: boolean): SchemaUpdate | undefined => schemas.take(isLast).get('e'),
    mode: () => schemas.state('e')?.mode,
  };
}

test('learns silently, then tells what is new', () => {
  const { clock, schemas, observe, take, mode } = openEdge();
  observe({ a: 1 }, { a: 2, b: 'x' });
  expect(take()).toMatchObject({ state: { mode: 'learning', records: 2, fields: { a: {}, b: {} } } });
  expect(take()).toBeUndefined();

  expect(schemas.graduate('e')).toBe(true);
  expect(take()?.event).toMatchObject({ tags: ['graduated'], fields: {} });
  clock.now += 60_000;
  observe({ a: 1, b: 'y' });
  expect(take()?.event).toBeUndefined();
  observe({ a: '1', c: { d: null } });
  const update = take();
  expect(update?.event).toMatchObject({
    at: clock.now,
    tags: ['type_added', 'field_added'],
    fields: { a: { types: { number: {}, string: {} } }, c: {}, 'c.d': { types: { null: { count: 1 } } } },
    count: 3,
  });
  expect(mode()).toBe('detecting');
});

test('tells of changes at most once a minute, and of 100 fields at once', () => {
  const { clock, schemas, observe, take } = openEdge();
  schemas.graduate('e');
  observe(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, n])));
  const first = take()?.event;
  expect([Object.keys(first?.fields ?? {}).length, first?.count]).toEqual([100, 300]);
  let events = 0;
  for (let second = 0; second < 120; second += 1) {
    clock.now += 1_000;
    observe({ [`later-${second}`]: 1 });
    if (take()?.event) events += 1;
  }
  expect(events).toBe(2);
});

test('ends the learning after a day, not while nothing passes', () => {
  const { clock, observe, mode } = openEdge();
  clock.now += 30 * HOUR;
  observe({ a: 1 });
  expect(mode()).toBe('learning');
  observe({ b: 1 });
  expect(mode()).toBe('detecting');
});

test('tells of a field that records no longer have, and of its return', () => {
  const { clock, schemas, observe, take } = openEdge();
  observe(...Array.from({ length: 100 }, () => ({ a: 1, b: 1 })));
  schemas.graduate('e');
  take();
  for (let n = 0; n < 20; n += 1) {
    clock.now += 61_000;
    observe(...Array.from({ length: 100 }, () => ({ a: 1 })));
  }
  expect(take()?.event).toMatchObject({ tags: ['field_removed'], fields: { b: { records: 100 } }, count: 1 });
  clock.now += 61_000;
  observe({ a: 1, b: 1 });
  expect(take()?.event).toMatchObject({ tags: ['field_added'], fields: { b: { records: 1 } } });
});

test('observes a thousand records a second, also after the clock was put back', () => {
  const { clock, schemas, observe } = openEdge();
  observe(...Array.from({ length: 5_000 }, () => ({ a: 1 })));
  observe({ a: 1 });
  expect(schemas.state('e')?.records).toBe(1_000);
  clock.now -= HOUR;
  observe({ a: 1 });
  expect(schemas.state('e')?.records).toBe(1_001);
});

test('starts over on request', () => {
  const { clock, schemas, observe, take } = openEdge();
  observe({ a: 1 });
  schemas.graduate('e');
  clock.now += HOUR;
  expect(schemas.reset('e')).toBe(true);
  expect(take()).toMatchObject({
    event: { tags: ['learning_started'] },
    state: { mode: 'learning', learningStart: clock.now, records: 0, fields: {} },
  });
  observe({ b: 1 });
  expect(Object.keys(schemas.state('e')?.fields ?? {})).toEqual(['b']);
});

test('continues after a restart, and stores again what could not be stored', () => {
  const first = openEdge();
  first.observe({ a: 1 });
  first.schemas.graduate('e');
  first.observe({ b: 1 });
  const update = first.take();
  if (!update) throw new Error('nothing to store');
  first.schemas.putBack(new Map([['e', update]]));
  expect(first.take()?.event).toMatchObject({ tags: ['graduated', 'field_added'], fields: { b: {} } });

  const stored = JSON.parse(JSON.stringify(first.schemas.state('e')));
  const second = openEdge(stored);
  expect(second.schemas.state('e')).toEqual(stored);
  expect(second.take()).toBeUndefined();
  second.observe({ a: 1, b: 1, c: 1 });
  expect(second.take()?.event).toMatchObject({ tags: ['field_added'], fields: { c: {} } });
});

test('an edge that is not observed costs nothing and has no state', () => {
  const { schemas, observe } = openEdge();
  observe({ a: 1 });
  schemas.watch(['other'], new Map());
  observe({ a: 1 });
  expect([schemas.has('e'), schemas.state('e'), schemas.graduate('e'), schemas.reset('e')]).toEqual([
    false,
    undefined,
    false,
    false,
  ]);
});
