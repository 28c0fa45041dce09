import type { PipelineStatus } from '@connector-frame/engine';
import { expect, it } from 'vitest';
import { HeldStatuses } from './held-statuses.js';

const START = Date.UTC(2030, 0, 1);

function observing(held = new HeldStatuses(undefined, START)) {
  let now = START;
  return {
    held,
    /** Observes a status every ten seconds. */
    see: (status: PipelineStatus, seconds: number): void => {
      for (let n = 0; n < seconds; n += 10) {
        held.observed({ id: 'p', status }, now);
        now += 10_000;
      }
    },
    since: (status: PipelineStatus = 'Erroring') => {
      const since = held.since('p', status);
      return since === undefined ? undefined : (since - START) / 1_000;
    },
  };
}

it('holds a status from when it began, and no other', () => {
  const { see, since } = observing();
  see('Running', 30);
  expect(since()).toBeUndefined();
  see('Erroring', 60);
  expect([since(), since('Throttled')]).toEqual([30, undefined]);
  see('Throttled', 10);
  expect([since(), since('Throttled')]).toEqual([undefined, 90]);
  see('Running', 10);
  expect(since('Throttled')).toBeUndefined();
});

it('goes on while the pipeline starts again, but not for longer than a minute', () => {
  const { see, since } = observing();
  see('Erroring', 60);
  see('Initializing', 30);
  see('Erroring', 10);
  expect(since()).toBe(0);
  see('Initializing', 80);
  see('Erroring', 10);
  expect(since()).toBe(180);
});

it('goes on over a restart', () => {
  const first = observing();
  first.see('Erroring', 60);
  const saved = JSON.parse(JSON.stringify(first.held.toJson()));
  const second = observing(new HeldStatuses(saved, START));
  second.see('Initializing', 20);
  second.see('Erroring', 10);
  expect(second.since()).toBe(0);
  second.held.retain(() => false);
  expect(second.since()).toBeUndefined();
});
