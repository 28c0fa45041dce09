import { systemClock } from '@connector-frame/engine';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { postgresql } from '../../../../../test/support/databases.js';
import { EventSignals } from '../../alerts/alert-records.js';
import { Notifications } from '../../store/notifications.js';
import { SharedSignals } from './shared-signals.js';

const databases = postgresql();
afterAll(() => databases.close());

/** Signals of two processes on one PostgreSQL. */
async function openSignals(): Promise<SharedSignals[]> {
  const database = await databases.open();
  const { pool } = database;
  if (!pool) throw new Error('This is not PostgreSQL.');
  const all = [new Notifications(pool, systemClock), new Notifications(pool, systemClock)];
  const signals = all.map((each) => new SharedSignals(each));
  for (const each of all) each.start();
  onTestFinished(async () => {
    await Promise.all(all.map((each) => each.close()));
    await database.close();
  });
  return signals;
}

it('wakes a pipeline that delivers alerts in another process than the one that evaluates rules', async () => {
  const [leading, other] = await openSignals();
  if (!leading || !other) throw new Error('There are two.');
  const version = other.version('acme');
  const waiting = other.changed('acme', version, new AbortController().signal);
  // The other process may not listen yet: what it looks for when it begins ends the wait as well.
  leading.notify(['acme']);
  await waiting;
  expect(other.version('acme')).toBeGreaterThan(version);
  const [local, second] = [leading.version('acme'), other.version('acme')];
  const next = other.changed('acme', second, new AbortController().signal);
  leading.notify(['acme']);
  await next;
  expect(leading.version('acme')).toBeGreaterThan(local);
});

it('wakes all that wait when a notification may have been lost', async () => {
  const signals = new EventSignals();
  const waiting = ['acme', 'globex'].map((id) => signals.changed(id, 0, new AbortController().signal));
  signals.notifyAll();
  await Promise.all(waiting);
  expect([signals.version('acme'), signals.version('globex'), signals.version('initech')]).toEqual([1, 1, 0]);
});
