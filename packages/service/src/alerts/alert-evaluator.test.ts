import type { JsonValue, PipelineStatus } from '@connector-frame/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/coordinator-contract.js';
import { anyDatabase } from '../../../../test/support/databases.js';
import type { CurrentCost } from '../billing/current-cost.js';
import { createAlertWriter, type AlertWriter } from '../store/alert-writer.js';
import { createStore } from '../store/create-store.js';
import type { Database } from '../store/database.js';
import { createEngineLeases } from '../store/engine-leases.js';
import type { AlertRule } from '../store/store.js';
import { periodOf } from '../usage/periods.js';
import { AlertEvaluator, type EvaluatorOptions, type LoggedEntry } from './alert-evaluator.js';
import type { WatchedPipeline } from './watched-pipeline.js';

const ORGANIZATION = 'org';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NANODOLLARS = 1_000_000_000;

const ruleOf = (change: Partial<AlertRule> = {}): AlertRule => ({
  id: 'rule',
  organizationId: ORGANIZATION,
  name: 'Rule',
  description: '',
  type: 'pipeline-status-alert',
  severity: 'high',
  active: true,
  pipelineIds: [],
  invertSelection: false,
  ruleConfig: { settings: { status: 'Erroring', time_window: '30s' } },
  version: 1,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  ...change,
});
const BUDGET = { type: 'billing-metrics-cost-budget', ruleConfig: { settings: { usd_amount: 5_000 } } };
const LOG_RULE = { type: 'monad-log-alert', ruleConfig: { settings: { levels: ['error'], dedupe_window: '5m' } } };

/** Pipelines, their log, and what an evaluator has stored, in place of an engine. */
class World {
  readonly clock = new ManualClock(Date.UTC(2030, 0, 1));
  readonly pipelines = new Map<string, WatchedPipeline>();
  readonly entries: LoggedEntry[] = [];
  readonly failures: unknown[] = [];
  state: JsonValue | undefined;
  /** US dollars per month of the year 2030. */
  readonly dollars = new Map<number, number>();
  /** How often a cost was read. */
  costsRead = 0;
  /** Replaces the writes of the next commits. */
  commit: AlertWriter['commit'] | undefined;
  #sequence = 0;

  set(id: string, status: PipelineStatus): void {
    const none = { records: 0, bytes: 0 };
    this.pipelines.set(id, {
      id,
      organizationId: ORGANIZATION,
      name: id,
      isEnabled: true,
      status,
      enabledSince: 0,
      deliversAlerts: false,
      counted: () => ({ ingress: none, egress: none, errors: 0, failedAttempts: 0, isWhole: true }),
      slugOf: (nodeId) => nodeId,
      lastError: () => undefined,
    });
  }

  /** Adds an entry to the log of a pipeline. An evaluator that is open gets it. */
  log(evaluator?: AlertEvaluator): void {
    this.#sequence += 1;
    const entry = {
      sequence: this.#sequence,
      at: this.clock.now(),
      level: 'error',
      code: 'x',
      message: 'm',
      nodeId: 'n',
    };
    const logged: LoggedEntry = { organizationId: ORGANIZATION, pipelineId: 'p', entry: { ...entry, level: 'error' } };
    this.entries.push(logged);
    evaluator?.logged(logged);
  }

  open(writer: AlertWriter, change: Partial<EvaluatorOptions> = {}): AlertEvaluator {
    const evaluator = new AlertEvaluator({
      writer: { ...writer, commit: (...given) => this.commit?.(...given) ?? writer.commit(...given) },
      pipelines: () => this.pipelines.values(),
      hasPipeline: (id) => this.pipelines.has(id),
      storedCounts: () => Promise.resolve([]),
      currentCost: (_organizationId, now) => Promise.resolve(this.#cost(now)),
      entriesAfter: (sequence) => this.entries.filter(({ entry }) => entry.sequence > sequence),
      state: {
        load: () => Promise.resolve(this.state),
        save: (value) => {
          this.state = JSON.parse(JSON.stringify(value));
          return Promise.resolve();
        },
      },
      remindMs: undefined,
      clock: this.clock,
      onEvents: () => undefined,
      onFailure: (error) => this.failures.push(error),
      onUnknownRule: ({ id }) => this.failures.push(id),
      ...change,
    });
    evaluator.start();
    return evaluator;
  }

  #cost(now: number): CurrentCost {
    this.costsRead += 1;
    const period = periodOf('month', now);
    const dollars = this.dollars.get(new Date(now).getUTCMonth()) ?? 0;
    return {
      of: 'invoice',
      billingAccountId: 'account',
      period,
      nanodollars: BigInt(Math.round(dollars * 100)) * BigInt(NANODOLLARS / 100),
    };
  }

  /** Evaluates every ten seconds. */
  async step(evaluator: AlertEvaluator, times = 1): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      this.clock.advance(10_000);
      await evaluator.tick(this.clock.now());
    }
  }
}

describe('the evaluator', () => {
  const databases = anyDatabase();
  let database: Database;
  let token: number;
  let writer: AlertWriter;
  let store: ReturnType<typeof createStore>;
  beforeAll(async () => {
    database = await databases.open();
    store = createStore(database);
    await database.script((run) =>
      run(
        `insert into organizations (id, name, description, friendly_name, allowed_origins, created_at, updated_at)
         values ('${ORGANIZATION}', 'O', '', '', '{}', now(), now()), ('other', 'P', '', '', '{}', now(), now())`,
      ),
    );
    token = (await createEngineLeases(database.queries).acquire('one', MINUTE)) ?? 0;
    writer = createAlertWriter(database, token);
  });
  afterAll(async () => {
    await database.close();
    await databases.close();
  });

  /** Replaces all rules. */
  async function rules(...rows: AlertRule[]): Promise<World> {
    await database.script((run) => run('delete from alert_rules; delete from alerts; delete from alert_events'));
    for (const row of rows) await store.alertRules.insert(row);
    return new World();
  }
  const events = async () => (await store.alertEvents.after(ORGANIZATION, 0, 100)).map(({ event }) => event);
  const alerts = async () => (await store.alerts.list(ORGANIZATION, {}, 100)).rows;

  it('tries again what could not be stored, and stores it once', async () => {
    const world = await rules(ruleOf());
    const evaluator = world.open(writer);
    world.set('p', 'Erroring');
    world.commit = () => Promise.reject(new Error('The database is away.'));
    await world.step(evaluator, 6);
    await expect.poll(() => world.failures).toHaveLength(1);
    expect(await events()).toEqual([]);
    world.commit = undefined;
    await world.step(evaluator, 2);
    expect(await events()).toEqual(['fired']);
    await evaluator.close();
  });

  it('stores nothing twice when it does not know whether a write was committed', async () => {
    const world = await rules(ruleOf());
    const evaluator = world.open(writer);
    world.set('p', 'Erroring');
    const unsure: AlertWriter['commit'] = async (...given) => {
      await writer.commit(...given);
      throw new Error('The connection was lost.');
    };
    world.commit = unsure;
    await world.step(evaluator, 6);
    expect(await events()).toEqual(['fired']);
    world.set('p', 'Running');
    await world.step(evaluator, 10);
    expect(await events()).toEqual(['fired', 'resolved']);
    world.commit = undefined;
    await world.step(evaluator, 3);
    expect([await events(), (await alerts()).length]).toEqual([['fired', 'resolved'], 1]);
    await evaluator.close();
  });

  it('goes on with what an earlier process has stored, also after a kill', async () => {
    const world = await rules(ruleOf({ ruleConfig: { settings: { status: 'Erroring', time_window: '5m' } } }));
    // Never closed, as after a kill.
    const killed = world.open(writer);
    world.set('p', 'Erroring');
    await world.step(killed, 28);
    const second = world.open(writer);
    world.set('p', 'Initializing');
    await world.step(second, 2);
    world.set('p', 'Erroring');
    await world.step(second, 3);
    // It has lasted for five minutes, most of them in the first process.
    await expect.poll(events).toEqual(['fired']);
    const third = world.open(writer);
    await world.step(third, 3);
    world.set('p', 'Running');
    await world.step(third, 35);
    await world.step(third, 30);
    expect(await events()).toEqual(['fired', 'resolved']);
    await third.close();
  });

  it('reads log entries once over restarts, also those that were logged in between', async () => {
    const world = await rules(ruleOf(LOG_RULE));
    world.set('p', 'Running');
    world.log();
    const first = world.open(writer);
    await world.step(first, 2);
    // What was logged before the first process with rules is history.
    expect(await events()).toEqual([]);
    await first.close();
    world.log();
    const second = world.open(writer);
    await world.step(second, 2);
    expect(await events()).toEqual(['fired']);
    // Read again: its state was not saved after it had stored the alert.
    world.state = undefined;
    const saved = { log_sequence: 0, outages: null, statuses: null };
    world.state = saved;
    const third = world.open(writer);
    await world.step(third, 3);
    expect(await events()).toEqual(['fired']);
    expect((await alerts())[0]?.metadata).toMatchObject({ matches: 1 });
    world.log(third);
    await world.step(third, 2);
    await expect.poll(async () => (await alerts())[0]?.metadata['matches']).not.toBe(1);
    expect(await events()).toEqual(['fired']);
    await third.close();
  });

  it('evaluates a log entry without waiting for the next interval', async () => {
    const world = await rules(ruleOf(LOG_RULE));
    world.set('p', 'Running');
    const evaluator = world.open(writer);
    await world.step(evaluator);
    world.log(evaluator);
    world.clock.advance(1_000);
    await expect.poll(events).toEqual(['fired']);
    await evaluator.close();
  });

  it('fires for what was logged after a rule was committed, also before it knew the rule', async () => {
    const world = await rules();
    world.set('p', 'Running');
    const evaluator = world.open(writer);
    await world.step(evaluator);
    world.log(evaluator);
    world.clock.advance(1_000);
    // Another process commits it.
    const committed = new Date(world.clock.now());
    await store.alertRules.insert(ruleOf({ ...LOG_RULE, createdAt: committed, updatedAt: committed }));
    world.clock.advance(1_000);
    world.log(evaluator);
    await world.step(evaluator);
    expect(await events()).toEqual(['fired']);
    expect((await alerts())[0]?.metadata).toMatchObject({ matches: 1 });
    await evaluator.close();
  });

  it('does not end the alert of a pipeline that exists and was not read yet', async () => {
    const world = await rules(ruleOf());
    world.set('p', 'Erroring');
    const evaluator = world.open(writer, { hasPipeline: () => true });
    await world.step(evaluator, 6);
    expect(await events()).toEqual(['fired']);
    world.pipelines.clear();
    await world.step(evaluator, 4);
    expect(await events()).toEqual(['fired']);
    await evaluator.close();
  });

  it('skips a rule that this release does not understand, and evaluates the others', async () => {
    const world = await rules(ruleOf(), ruleOf({ id: 'later', type: 'a-later-type' }));
    world.set('p', 'Erroring');
    const evaluator = world.open(writer);
    await world.step(evaluator, 6);
    expect(await events()).toEqual(['fired']);
    expect(world.failures).toEqual(['later']);
    await evaluator.close();
  });

  it('loses only the alerts of an organization that is deleted meanwhile', async () => {
    const world = await rules(ruleOf());
    const evaluator = world.open(writer);
    world.set('p', 'Erroring');
    const stored: AlertWriter['commit'] = async (changes, now) => {
      const foreign = changes.map((change) => ({
        ...change,
        alert: { ...change.alert, id: `${change.alert.id}x`, organizationId: 'gone' },
      }));
      return writer.commit([...foreign, ...changes], now);
    };
    world.commit = stored;
    await world.step(evaluator, 6);
    expect(await events()).toEqual(['fired']);
    expect(world.failures).toEqual([]);
    await evaluator.close();
  });

  it('fires once when the cost passes the budget, and says by how much', async () => {
    const world = await rules(ruleOf(BUDGET));
    const evaluator = world.open(writer);
    world.dollars.set(0, 5_000);
    await world.step(evaluator, 8);
    expect(await events()).toEqual([]);
    world.dollars.set(0, 5_432.1);
    await world.step(evaluator, 30);
    expect(await events()).toEqual(['fired']);
    // The strings and the three names of the documented example of the public API.
    expect(await alerts()).toMatchObject([
      {
        resourceType: 'organization',
        resourceId: ORGANIZATION,
        pipelineId: null,
        description: 'The current invoice of billing account account is $5432.10, above the budget of $5000.',
        metadata: {
          current_overage_amount_percentage: '108.64%',
          current_overage_amount_value: '432.10',
          current_invoice_price: '5432.10',
        },
      },
    ]);
    // At most once a minute.
    expect(world.costsRead).toBeLessThanOrEqual(8);
    await evaluator.close();
  });

  it('resolves a cost alert when the budget is raised, also in another process', async () => {
    const world = await rules(ruleOf(BUDGET));
    world.dollars.set(0, 6_000);
    // Never closed, as after a kill.
    await world.step(world.open(writer), 2);
    const next = world.open(writer);
    await world.step(next, 10);
    expect(await events()).toEqual(['fired']);
    await store.alertRules.update(ruleOf({ ...BUDGET, ruleConfig: { settings: { usd_amount: 6_000 } }, version: 2 }));
    await world.step(next, 8);
    expect(await events()).toEqual(['fired', 'resolved']);
    expect((await alerts())[0]?.description).toContain('$6000.00, within the budget of $6000.');
    await next.close();
  });

  it('ends a cost alert with its month, and fires another one in the next month', async () => {
    const world = await rules(ruleOf(BUDGET));
    const evaluator = world.open(writer, { remindMs: 4 * HOUR });
    world.dollars.set(0, 6_000).set(1, 7_000);
    await world.step(evaluator, 2);
    world.clock.advance(4 * HOUR);
    await world.step(evaluator, 2);
    expect(await events()).toEqual(['fired', 'reminded']);
    world.clock.advance(Date.UTC(2030, 1, 1) - world.clock.now());
    await world.step(evaluator, 9);
    expect(await events()).toEqual(['fired', 'reminded', 'resolved', 'fired']);
    expect((await alerts()).map(({ metadata }) => metadata['current_invoice_price'])).toEqual(['7000.00', '7000.00']);
    world.dollars.clear();
    await world.step(evaluator, 20);
    expect((await events()).slice(4)).toEqual(['resolved']);
    await evaluator.close();
  });

  it('does not resolve a cost alert for a clock that is wrong for less than a minute', async () => {
    const world = await rules(ruleOf(BUDGET));
    const evaluator = world.open(writer);
    world.dollars.set(0, 6_000);
    await world.step(evaluator, 2);
    for (const jump of [40 * 24 * HOUR, -40 * 24 * HOUR]) {
      world.clock.advance(jump);
      await world.step(evaluator, 3);
      world.clock.advance(-jump);
      await world.step(evaluator, 12);
    }
    expect(await events()).toEqual(['fired']);
    expect((await alerts())[0]?.clearingStartedAt).toBeNull();
    await evaluator.close();
  });

  it('ends a cost alert whose rule is no longer active', async () => {
    const world = await rules(ruleOf(BUDGET));
    const evaluator = world.open(writer);
    world.dollars.set(0, 6_000);
    await world.step(evaluator, 2);
    await store.alertRules.update(ruleOf({ ...BUDGET, active: false, version: 2 }));
    await world.step(evaluator, 2);
    expect(await events()).toEqual(['fired', 'resolved']);
    expect((await alerts())[0]?.metadata).toMatchObject({ ended: 'rule_inactive' });
    await evaluator.close();
  });

  it('of a process that has lost the engine stores nothing', async () => {
    const world = await rules(ruleOf());
    const evaluator = world.open(createAlertWriter(database, token - 1));
    world.set('p', 'Erroring');
    await world.step(evaluator, 8);
    expect([await events(), await alerts()]).toEqual([[], []]);
    await evaluator.close();
  });
});
