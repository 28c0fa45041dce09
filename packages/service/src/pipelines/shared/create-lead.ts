import { systemClock } from '@connector-frame/engine';
import type { Pool } from 'pg';
import type { AlertEvaluator } from '../../alerts/alert-evaluator.js';
import type { EventSignals } from '../../alerts/alert-records.js';
import { createAlertWriter } from '../../store/alert-writer.js';
import type { EngineState } from '../../store/engine-state.js';
import { removeOrphans } from '../../store/shared-cleanup.js';
import type { Tables } from '../../store/store.js';
import { createUsageEvents } from '../../store/usage-events.js';
import type { UsageWriter } from '../../store/usage-writer.js';
import { createUsageTidying } from '../../usage/usage-tidying.js';
import { createUsageWebhook } from '../../usage/usage-webhook.js';
import { createEvaluator } from '../running/create-evaluator.js';
import type { Repeat } from '../running/engine-loops.js';
import type { EngineOptions } from '../running/engine-options.js';
import type { Supervisor } from '../running/supervisor.js';
import type { Leadership } from './leader.js';
import type { Requests } from './requests.js';
import type { SharedLogs } from './shared-logs.js';

export interface LeadParts {
  options: EngineOptions;
  pool: Pool;
  tables: Tables;
  durable: EngineState;
  supervisor: Supervisor;
  logs: SharedLogs;
  requests: Requests;
  /** Removes the buffers of pipelines that were removed. */
  tidyBuffers: () => Promise<void>;
  signals: EventSignals;
  usageWriter: UsageWriter;
  usageDays: number;
  repeat: (signal: AbortSignal) => Repeat;
}

/** What only one member does: alerts, the usage webhook, and deleting what is old. */
export interface Lead {
  begin(epoch: number): Leadership;
  /** Evaluates alert rules, if this process leads. */
  tick(at: number): void;
  /** Reports that counts are stored until a full minute. */
  counted(until: number): void;
  rulesChanged(): void;
}

/** Intervals in milliseconds. */
const LOGS = 1_000;
const WEBHOOK = 10_000;
const MINUTE = 60_000;
const REMINDER = 4 * 60 * MINUTE;

export function createLead(parts: LeadParts): Lead {
  const { options, pool, tables, durable, supervisor, logs, requests, tidyBuffers, signals, usageWriter, usageDays } =
    parts;
  const { database, log, clock = systemClock, usageWebhook, egress } = options;
  let alerts: AlertEvaluator | undefined;

  function begin(epoch: number): Leadership {
    const ending = new AbortController();
    const repeat = parts.repeat(ending.signal);
    // Entries after this sequence have not been compared with alert rules.
    let compared: number | undefined;
    const evaluator = createEvaluator({
      writer: createAlertWriter(database, epoch),
      tables,
      state: durable,
      token: epoch,
      supervisor,
      logs: {
        async entriesAfter(sequence) {
          const all = [];
          // A single engine has counted differently.
          for (let last = Math.min(sequence, await logs.lastSequence()); ;) {
            const some = await logs.entriesAfter(last);
            all.push(...some);
            last = some.at(-1)?.entry.sequence ?? last;
            if (some.length > 0) continue;
            compared = last;
            return all;
          }
        },
      },
      signals,
      remindMs: 'alertReminderMs' in options ? options.alertReminderMs : REMINDER,
      clock,
      log,
    });
    alerts = evaluator;
    evaluator.start();
    async function compareLogs(): Promise<void> {
      if (compared === undefined) return;
      for (const entry of await logs.entriesAfter(compared)) {
        evaluator.logged(entry);
        compared = entry.entry.sequence;
      }
    }
    const webhook =
      usageWebhook &&
      createUsageWebhook({
        ...usageWebhook,
        events: createUsageEvents(database.queries),
        egress,
        now: () => clock.now(),
        signal: ending.signal,
        log,
      });
    const tidyUsage = createUsageTidying(usageWriter, usageDays);
    async function tidy(): Promise<void> {
      await tidyUsage(clock.now());
      await logs.tidy();
      await requests.tidy();
      await removeOrphans(pool);
      await tidyBuffers();
    }
    const loops = [
      repeat(() => LOGS, compareLogs, 'could not read the logs of pipelines; retrying'),
      repeat(() => MINUTE, tidy, 'could not delete what is old; retrying'),
      ...(webhook ? [repeat(() => WEBHOOK, webhook, 'could not read or note what was sent to the usage webhook')] : []),
    ];
    return {
      async end() {
        ending.abort();
        if (alerts === evaluator) alerts = undefined;
        await Promise.all(loops);
        await evaluator.close();
      },
    };
  }

  return {
    begin,
    tick: (at) => void alerts?.tick(at),
    counted: (until) => alerts?.counted(until),
    rulesChanged: () => alerts?.wake(),
  };
}
