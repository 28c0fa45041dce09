import { expect, test } from 'vitest';
import type { PipelineStatus } from './definition.js';
import { statusOf, type Facts } from './status.js';

const NOW = 1_000_000;
const running: Facts = {
  enabled: true,
  held: true,
  heartbeatAt: NOW - 1_000,
  working: true,
  acknowledged: true,
  failures: 0,
  permanent: false,
  full: false,
};

test.each<[string, Partial<Facts>, PipelineStatus]>([
  ['all is well', {}, 'Running'],
  ['idle, both ends have answered', { acknowledged: true }, 'Running'],
  ['one failure is an accident', { failures: 2 }, 'Running'],
  ['nothing acknowledged yet', { acknowledged: false }, 'Initializing'],
  ['at rest, and about to begin', { working: false }, 'Initializing'],
  ['nobody holds it', { held: false }, 'Pending'],
  ['nobody holds it any more', { held: false, heartbeatAt: NOW - 60_000, failures: 9 }, 'Pending'],
  ['held, and never heard of', { heartbeatAt: 0 }, 'Unknown'],
  ['held, and silent for too long', { heartbeatAt: NOW - 15_001 }, 'Unknown'],
  ['held, and silent for as long as may be', { heartbeatAt: NOW - 15_000 }, 'Running'],
  ['silent after an error', { heartbeatAt: NOW - 20_000, permanent: true }, 'Unknown'],
  ['off and drained', { enabled: false, working: false }, 'Disabled'],
  ['off, drained and broken', { enabled: false, working: false, permanent: true, full: true }, 'Disabled'],
  ['off, and nobody there', { enabled: false, held: false }, 'Disabled'],
  ['off, still delivering', { enabled: false }, 'Running'],
  ['off, still trying to deliver', { enabled: false, failures: 3 }, 'Erroring'],
  ['off, and silent in the middle of it', { enabled: false, heartbeatAt: NOW - 20_000 }, 'Unknown'],
  ['a permanent error', { permanent: true }, 'Erroring'],
  ['a permanent error before anything went', { permanent: true, acknowledged: false }, 'Erroring'],
  ['failing again and again', { failures: 3 }, 'Erroring'],
  ['failing before anything went', { failures: 3, acknowledged: false }, 'Erroring'],
  ['failing counts more than being slowed', { failures: 3, full: true }, 'Erroring'],
  ['asked for less', { throttledUntil: NOW + 1 }, 'Throttled'],
  ['asked for less, and that is over', { throttledUntil: NOW }, 'Running'],
  ['buffer full', { full: true }, 'Throttled'],
  ['buffer full before anything went', { full: true, acknowledged: false }, 'Throttled'],
])('%s', (_, changed, expected) => {
  expect(statusOf({ ...running, ...changed }, NOW)).toBe(expected);
});

test('every combination of facts has a status, and only a disabled pipeline is Disabled', () => {
  for (let bits = 0; bits < 2 ** 8; bits += 1) {
    const is = (n: number): boolean => Boolean((bits >> n) & 1);
    const facts: Facts = {
      enabled: is(0),
      held: is(1),
      ...(is(2) && { heartbeatAt: NOW }),
      working: is(3),
      acknowledged: is(4),
      failures: is(5) ? 5 : 0,
      permanent: is(6),
      full: is(7),
    };
    const status = statusOf(facts, NOW);
    if (facts.enabled) expect(status).not.toBe('Disabled');
    if (status === 'Running')
      expect(facts).toMatchObject({ held: true, heartbeatAt: NOW, permanent: false, failures: 0 });
  }
});
