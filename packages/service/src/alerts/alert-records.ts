import { ConnectorError, isRecord, type AlertRecords, type JsonValue } from '@connector-frame/engine';
import type { AlertEvents } from '../store/alerts.js';

/** Events per query. */
const PAGE = 100;

/** Notifies the pipelines of an organization that there are new events. */
export class EventSignals {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #versions = new Map<string, number>();

  /** Wakes everything that waits for events of these organizations. */
  notify(organizationIds: Iterable<string>): void {
    for (const id of organizationIds) this.#wake(id);
  }

  #wake(organizationId: string): void {
    this.#versions.set(organizationId, this.version(organizationId) + 1);
    for (const wake of this.#waiting.get(organizationId) ?? []) wake();
  }

  /** Wakes everything that waits: a notification may have been lost. */
  notifyAll(): void {
    for (const id of this.#waiting.keys()) this.#wake(id);
  }

  /** Increases with each notification of an organization. */
  version(organizationId: string): number {
    return this.#versions.get(organizationId) ?? 0;
  }

  /** Resolves once the version is another one, or `signal` is aborted. */
  changed(organizationId: string, version: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.version(organizationId) !== version) return Promise.resolve();
    const waiting = this.#waiting.get(organizationId) ?? new Set();
    this.#waiting.set(organizationId, waiting);
    return new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(organizationId);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}

/** Where a pipeline is in the events of its organization. */
interface Position {
  after: number;
  /** Up to this sequence, only alerts that are still firing: what was before the pipeline. */
  firingUntil: number;
}

/**
 * Creates the records of a pipeline. The table of events is their buffer, and the cursor of the
 * pipeline says which of them it has delivered.
 * @param nodeId the input
 */
export function createAlertRecords(
  events: Pick<AlertEvents, 'feedStart' | 'forPipeline'>,
  signals: EventSignals,
  { id, organizationId }: { id: string; organizationId: string },
  nodeId: string,
): AlertRecords {
  let version = signals.version(organizationId);
  return {
    start: () => reading(async () => ({ after: 0, firingUntil: await events.feedStart(id, nodeId) })),

    async after(cursor) {
      // Before the query: an event that is stored during it wakes `changed`.
      version = signals.version(organizationId);
      const position = positionIn(cursor);
      const found = await reading(() => events.forPipeline(organizationId, id, position, PAGE));
      return found.map(({ sequence, alert }) => ({
        record: alert,
        cursor: { after: sequence, firingUntil: position.firingUntil },
      }));
    },

    changed: (signal) => signals.changed(organizationId, version, signal),
  };
}

async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch {
    throw new ConnectorError('database_unavailable', 'The alerts could not be read from the database.');
  }
}

function positionIn(cursor: JsonValue): Position {
  const { after, firingUntil } = isRecord(cursor) ? cursor : {};
  return {
    after: typeof after === 'number' ? after : 0,
    firingUntil: typeof firingUntil === 'number' ? firingUntil : 0,
  };
}
