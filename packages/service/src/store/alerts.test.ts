import { afterAll, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../../test/support/databases.js';
import { createAlertWriter, type AlertChange } from './alert-writer.js';
import type { Alert } from './alerts.js';
import { createStore } from './create-store.js';
import type { Database } from './database.js';
import { createEngineLeases } from './engine-leases.js';
import { removeExpired } from './remove-expired.js';
import type { AlertRule } from './store.js';

const START = Date.UTC(2030, 0, 1);
const DAY = 86_400_000;
const at = (days: number): Date => new Date(START + days * DAY);

const alertOf = (id: string, change: Partial<Alert> = {}): Alert => ({
  id,
  organizationId: 'org',
  ruleId: 'rule',
  ruleType: 'threshold-alert',
  name: 'Rule',
  description: '',
  severity: 'high',
  pipelineId: 'p',
  resourceType: 'pipeline',
  resourceId: id,
  metadata: {},
  createdAt: at(0),
  firedAt: at(0),
  lastMatchAt: null,
  clearingStartedAt: null,
  resolvedAt: null,
  ...change,
});
const fired = (alert: Alert): AlertChange => ({
  alert,
  isNew: true,
  event: { name: 'fired', record: { id: alert.id } },
});
const resolved = (alert: Alert, days: number): AlertChange => ({
  alert: { ...alert, resolvedAt: at(days) },
  isNew: false,
  event: { name: 'resolved', record: { id: alert.id } },
});

const ruleOf = (id: string, version = 1): AlertRule => ({
  id,
  organizationId: 'org',
  name: id,
  description: '',
  type: 'threshold-alert',
  severity: 'high',
  active: true,
  pipelineIds: [],
  invertSelection: false,
  ruleConfig: {},
  version,
  createdAt: at(0),
  updatedAt: at(0),
});

describe.each(eachDatabase())('alerts on $name', (databases) => {
  afterAll(() => databases.close());

  async function open() {
    const database: Database = await databases.open();
    await database.script((run) =>
      run(
        `insert into organizations (id, name, description, friendly_name, allowed_origins, created_at, updated_at)
         values ('org', 'O', '', '', '{}', now(), now())`,
      ),
    );
    const token = (await createEngineLeases(database.queries).acquire('one', 60_000)) ?? 0;
    const { alerts, alertEvents, alertRules } = createStore(database);
    return { database, alerts, alertEvents, alertRules, token, writer: createAlertWriter(database, token) };
  }

  it('are stored with their events, once, in order, and only by the holder of the lease', async () => {
    const { database, alerts, alertEvents, token, writer } = await open();
    const many = Array.from({ length: 600 }, (_, n) => alertOf(`a${n}`));
    expect((await writer.commit(many.map(fired), at(0))).size).toBe(600);
    // The same again, as after a commit whose outcome is not known; and another one of the same resource.
    const again = [...many.slice(0, 3), { ...alertOf('b'), resourceId: 'a0' }];
    expect((await writer.commit(again.map(fired), at(1))).size).toBe(0);
    const before = await alertEvents.newest();
    const [one, two] = [alertOf('a0'), alertOf('a1')];
    const changes = [resolved(one, 2), { alert: { ...two, clearingStartedAt: at(2) }, isNew: false }];
    expect(await createAlertWriter(database, token - 1).commit(changes, at(2))).toEqual(new Set());
    expect(await writer.commit(changes, at(2))).toEqual(new Set(['a0', 'a1']));
    expect(await writer.commit([resolved(one, 3)], at(3))).toEqual(new Set());
    expect((await alertEvents.after('org', before, 10)).map(({ event, alertId }) => [event, alertId])).toEqual([
      ['resolved', 'a0'],
    ]);
    expect((await alertEvents.after('org', 0, 1_000)).map(({ alertId }) => alertId)).toEqual([
      ...many.map(({ id }) => id),
      'a0',
    ]);
    expect((await writer.firing()).length).toBe(599);
    const { rows, total } = await alerts.list('org', { resourceIds: ['a0', 'a1'] }, 1);
    expect([rows.length, total]).toEqual([1, 2]);
    await database.close();
  });

  it('have rules whose revision changes with each of them, whatever the clocks of the replicas say', async () => {
    const { database, alertRules, writer } = await open();
    const seen = [await writer.revision()];
    const after = async (change: Promise<void>) => {
      await change;
      seen.push(await writer.revision());
    };
    await after(alertRules.insert(ruleOf('one')));
    await after(alertRules.update(ruleOf('one', 2)));
    await after(alertRules.insert(ruleOf('two')));
    await after(alertRules.remove('two'));
    expect(seen[4]).toBe(seen[2]);
    await after(alertRules.insert(ruleOf('three')));
    expect(new Set(seen).size).toBe(5);
    await database.close();
  });

  it('expire some days after they were resolved, and their events after they occurred', async () => {
    const { database, alerts, alertEvents, writer } = await open();
    const all = ['old', 'late', 'firing'].map((id) => alertOf(id));
    await writer.commit(all.map(fired), at(0));
    const [old, late] = all;
    if (old && late) await writer.commit([resolved(old, 1)], at(1));
    if (old && late) await writer.commit([resolved(late, 50)], at(50));
    const { signal } = new AbortController();
    const expired = { now: at(100).getTime(), days: 90, signal };
    expect(await removeExpired((time, limit) => alerts.removeResolvedBefore(time, limit), expired)).toBe(1);
    expect(await removeExpired((time, limit) => alertEvents.removeBefore(time, limit), expired)).toBe(4);
    expect((await alerts.list('org', {}, 10)).rows.map(({ id }) => id).toSorted()).toEqual(['firing', 'late']);
    expect((await alertEvents.after('org', 0, 10)).map(({ alertId }) => alertId)).toEqual(['late']);
    await database.close();
  });
});
