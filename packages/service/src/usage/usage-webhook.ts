import { createHmac } from 'node:crypto';
import { EgressError, type Egress } from '@connector-frame/engine/egress';
import type { Logger } from 'pino';
import type { UsageEvent, UsageEvents } from '../store/usage-events.js';
import type { NodeUsage, UsageAmounts } from '../store/tables.js';
import { HOUR, MINUTE } from './periods.js';

/** Where the usage of each hour is sent. */
export interface UsageWebhookSettings {
  url: string;
  /** Key of the signatures. */
  secret: Uint8Array;
}

export interface UsageWebhookOptions extends UsageWebhookSettings {
  events: UsageEvents;
  egress: Pick<Egress, 'fetch'>;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Ends a call. */
  signal: AbortSignal;
  log: Logger;
}

/** Events of one call, and those that are sent at the same time. */
const MAX_EVENTS = 200;
const MAX_CONCURRENT = 4;
const TIMEOUT = 10_000;
/** Waits after a failure, in milliseconds. */
const FIRST_WAIT = 10_000;
const MAX_WAIT = HOUR;
const MAX_PAUSE = 5 * MINUTE;

/** Returns when an hour, in hours since 1970, is sent: once its last amounts are stored. */
export const dueAt = (hour: number): Date => new Date((hour + 1) * HOUR + MINUTE);

/**
 * Returns a function that delivers finished hours to the host's webhook, at least once, with an
 * idempotency key for each organization, pipeline and hour, signed as in Standard Webhooks
 * (https://www.standardwebhooks.com).
 *
 * When the receiver can't be reached or asks for it, all events wait; an event that it rejects waits
 * alone. Events are never given up.
 */
export function createUsageWebhook(options: UsageWebhookOptions): () => Promise<void> {
  const { events, now, signal, log } = options;
  let pausedUntil = 0;
  let failures = 0;

  /** Sends one event. Returns whether the receiver may get others. */
  async function deliver(event: UsageEvent): Promise<boolean> {
    const sums = event.sending ?? (await events.sums(event));
    const difference = differenceOf(sums, event.sent ?? []);
    if (difference.length === 0) {
      await events.finish(event);
      return true;
    }
    if (!event.sending) await events.prepare(event, sums);
    const outcome = await send(options, event, bodyOf(event, difference, sums));
    if (outcome.ok) {
      if (failures > 0) log.info('usage webhook responds again');
      failures = 0;
      await events.acknowledge(event);
      return true;
    }
    failures += 1;
    if (failures === 1) log.warn({ problem: outcome.problem }, 'usage webhook failed; retrying');
    await events.postpone(event, new Date(now() + waitAfter(event.attempts, MAX_WAIT)));
    if (!outcome.isUnavailable) return true;
    pausedUntil = now() + (outcome.retryMs ?? waitAfter(failures - 1, MAX_PAUSE));
    return false;
  }

  return async () => {
    if (now() < pausedUntil && pausedUntil - now() <= MAX_WAIT) return;
    const due = await events.due(new Date(now()), MAX_EVENTS);
    let isOpen = true;
    const work = async (): Promise<void> => {
      for (let event = due.shift(); event && isOpen && !signal.aborted; event = due.shift())
        if (!(await deliver(event))) isOpen = false;
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  };
}

type Outcome = { ok: true } | { ok: false; problem: string; isUnavailable: boolean; retryMs?: number };

async function send(options: UsageWebhookOptions, event: UsageEvent, body: string): Promise<Outcome> {
  const { url, secret, egress, now, signal } = options;
  const key = idempotencyKey(event);
  const timestamp = String(Math.floor(now() / 1_000));
  const signature = createHmac('sha256', secret).update(`${key}.${timestamp}.${body}`).digest('base64');
  try {
    const response = await egress.fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': key,
        'webhook-id': key,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
      signal,
      timeoutMs: TIMEOUT,
      discardBody: true,
      repeatable: true,
    });
    if (response.ok) return { ok: true };
    const { status } = response;
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const isUnavailable = status === 429 || status >= 500;
    const retryMs = seconds > 0 ? Math.min(seconds * 1_000, MAX_WAIT) : undefined;
    return { ok: false, problem: `status ${status}`, isUnavailable, ...(retryMs !== undefined && { retryMs }) };
  } catch (error) {
    const problem = error instanceof EgressError ? `${error.reason}: ${error.message}` : 'aborted';
    return { ok: false, problem, isUnavailable: true };
  }
}

const waitAfter = (failures: number, max: number): number => Math.min(max, FIRST_WAIT * 2 ** Math.min(failures, 20));

/**
 * The same for each attempt of a revision. A correction has a key of its own, because a receiver
 * ignores a key that it knows.
 */
export function idempotencyKey({ organizationId, pipelineId, hour, revision }: UsageEvent): string {
  const time = new Date(hour * HOUR).toISOString().slice(0, 13);
  return `usage_${organizationId}_${pipelineId}_${time}${revision === 0 ? '' : `_r${revision + 1}`}`;
}

function bodyOf(event: UsageEvent, difference: readonly NodeUsage[], sums: readonly NodeUsage[]): string {
  const { organizationId, parentId, pipelineId, hour, revision } = event;
  const start = new Date(hour * HOUR).toISOString();
  return JSON.stringify({
    type: 'usage.hour',
    timestamp: start,
    data: {
      idempotency_key: idempotencyKey(event),
      organization_id: organizationId,
      parent_organization_id: parentId,
      pipeline_id: pipelineId,
      start,
      end: new Date((hour + 1) * HOUR).toISOString(),
      revision: revision + 1,
      ...totalsOf(difference),
      total: totalsOf(sums),
      nodes: difference.map((node) => ({
        node_id: node.nodeId,
        component_type: node.componentType,
        component_id: node.componentId,
        type: node.type,
        ingress: { bytes: node.ingressBytes, records: node.ingressRecords },
        egress: { bytes: node.egressBytes, records: node.egressRecords },
        unfiltered: { bytes: node.unfilteredBytes, records: node.unfilteredRecords },
        errors: node.errors,
      })),
    },
  });
}

/** Returns the totals of a pipeline: ingress of its inputs, egress of its outputs, and all errors. */
function totalsOf(nodes: readonly NodeUsage[]) {
  const sum = (type: NodeUsage['componentType'] | undefined, key: keyof UsageAmounts): number =>
    nodes.reduce((total, node) => total + (type === undefined || node.componentType === type ? node[key] : 0), 0);
  return {
    ingress: { bytes: sum('input', 'ingressBytes'), records: sum('input', 'ingressRecords') },
    egress: { bytes: sum('output', 'egressBytes'), records: sum('output', 'egressRecords') },
    errors: sum(undefined, 'errors'),
  };
}

const AMOUNTS = [
  'ingressBytes',
  'ingressRecords',
  'egressBytes',
  'egressRecords',
  'errors',
  'unfilteredBytes',
  'unfilteredRecords',
] as const satisfies readonly (keyof UsageAmounts)[];

/** Returns what was added since `before`, without the nodes that have nothing new. */
function differenceOf(sums: readonly NodeUsage[], before: readonly NodeUsage[]): NodeUsage[] {
  const known = new Map(before.map((node) => [keyOf(node), node]));
  return sums.flatMap((node) => {
    const earlier = known.get(keyOf(node));
    const difference = { ...node };
    for (const key of AMOUNTS) difference[key] -= earlier?.[key] ?? 0;
    return AMOUNTS.some((key) => difference[key] !== 0) ? [difference] : [];
  });
}

const keyOf = ({ nodeId, componentId, type }: NodeUsage): string => `${nodeId} ${componentId} ${type}`;
