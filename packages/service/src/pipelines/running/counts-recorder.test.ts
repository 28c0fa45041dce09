import type { JsonValue } from '@connector-frame/engine';
import { expect, it } from 'vitest';
import type { CountsByNode } from '../../store/tables.js';
import type { Pipeline } from '../../store/store.js';
import { CountsRecorder } from './counts-recorder.js';

const HOUR = 3_600_000;
const START = Date.UTC(2030, 0, 1, 12, 30, 30);

const pipeline: Pipeline = {
  id: 'p',
  organizationId: 'o',
  name: 'P',
  description: '',
  enabled: true,
  nodes: [{ id: 'in', slug: 'in', component_id: 'c', component_type: 'input', enabled: true }],
  edges: [],
  version: 1,
  createdAt: new Date(START),
  updatedAt: new Date(START),
};
const report = (count: number): JsonValue => ({
  value: { counts: { nodes: { in: { ingress: { records: count, bytes: count } } } } },
});

const records = (nodes: CountsByNode) => nodes['in']?.ingress.records;

/** Creates a recorder whose writes fail while `down` is true. */
function recording() {
  const stored: [string, number | undefined][] = [];
  const thinned: (string | undefined)[] = [];
  const world = { now: START, down: false, reports: new Map<string, JsonValue>() };
  const recorder = new CountsRecorder({
    writer: {
      put(minute, counts) {
        if (world.down) return Promise.reject(new Error('down'));
        for (const nodes of counts.values()) stored.push([minute.toISOString().slice(11, 16), records(nodes)]);
        return Promise.resolve();
      },
      thin({ hourlyBefore, before, thinnedBefore }) {
        thinned.push(hourlyBefore.toISOString(), before.toISOString(), thinnedBefore?.toISOString());
        return Promise.resolve();
      },
    },
    takeReports: () => {
      const taken = world.reports;
      world.reports = new Map();
      return taken;
    },
    pipelineOf: (id) => (id === 'p' ? pipeline : undefined),
    now: () => world.now,
    days: 90,
  });
  return { stored, thinned, world, recorder };
}

it('stores what has changed as the counts of the minute that ends, and ignores removed pipelines', async () => {
  const { stored, world, recorder } = recording();
  await recorder.record();
  world.reports.set('p', report(3)).set('removed', report(9));
  // A timer fires right after the end of its minute.
  world.now = Date.UTC(2030, 0, 1, 12, 31, 0, 0);
  await recorder.record();
  await recorder.record();
  expect(stored).toEqual([['12:30', 3]]);
});

it('stores the latest counts once the database is back', async () => {
  const { stored, world, recorder } = recording();
  world.down = true;
  world.reports.set('p', report(3));
  await expect(recorder.record()).rejects.toThrow('down');
  world.now += 60_000;
  await expect(recorder.record()).rejects.toThrow('down');
  world.down = false;
  world.reports.set('p', report(4));
  await recorder.record();
  await recorder.record();
  expect(stored).toEqual([['12:31', 4]]);
});

it('thins once an hour, also after the clock was set back', async () => {
  const { thinned, world, recorder } = recording();
  await recorder.record();
  await recorder.record();
  expect(thinned).toEqual(['2029-12-31T12:00:00.000Z', '2029-10-03T12:30:30.000Z', undefined]);
  thinned.length = 0;
  world.now += HOUR;
  await recorder.record();
  expect(thinned).toEqual(['2029-12-31T13:00:00.000Z', '2029-10-03T13:30:30.000Z', '2029-12-31T12:00:00.000Z']);
  thinned.length = 0;
  world.now -= 5 * HOUR;
  await recorder.record();
  expect(thinned.slice(0, 1)).toEqual(['2029-12-31T08:00:00.000Z']);
});
