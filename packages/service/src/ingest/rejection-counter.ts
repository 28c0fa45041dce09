import type { Logger } from 'pino';

/** Log interval in milliseconds. */
const LOG_INTERVAL_MS = 60_000;

/**
 * Counts rejected requests by connector and status. Logs the first one immediately and the following
 * ones once a minute, because a sender may be fast.
 */
export interface RejectionCounter {
  add(connectorId: string, status: number): void;
}

export function createRejectionCounter(log: Logger): RejectionCounter {
  let counts = new Map<string, Record<number, number>>();
  let timer: NodeJS.Timeout | undefined;
  const logCounts = (): void => {
    for (const [connectorId, rejected] of counts)
      log.warn({ connector_id: connectorId, rejected }, 'requests rejected');
    timer = counts.size > 0 ? setTimeout(logCounts, LOG_INTERVAL_MS).unref() : undefined;
    counts = new Map();
  };
  return {
    add(connectorId, status) {
      const own = counts.get(connectorId) ?? {};
      own[status] = (own[status] ?? 0) + 1;
      counts.set(connectorId, own);
      if (!timer) logCounts();
    },
  };
}
