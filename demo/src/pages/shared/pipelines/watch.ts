import { snapshots } from './api.js';
import type { PipelineSnapshot } from './shapes.js';

/** A row that displays the status of its input's pipeline. */
export interface Watcher {
  tenantId: string;
  inputId: string;
  /** `null` if the input has no pipeline. */
  show(snapshot: PipelineSnapshot | null): void;
  /** Called when the status could not be fetched. The request is retried. */
  fail(message: string): void;
}

interface Watched {
  watcher: Watcher;
  visible: boolean;
  /**
   * Time of the next request, in milliseconds since 1970; `Infinity` while a request is in flight.
   */
  due: number;
}

/**
 * Polling intervals in milliseconds. The interval grows with the number of visible rows; inputs
 * without a pipeline are polled at `idleInterval`; after failures, the delay doubles up to
 * `longestPause`.
 */
const interval = 2_000;
const intervalPerRow = 200;
const idleInterval = 10_000;
const longestPause = 30_000;
/** Maximum number of rows per request. */
const most = 20;

const rows = new Map<Element, Watched>();
let timer: ReturnType<typeof setTimeout> | undefined;
let isFetching = false;
let failures = 0;

/** Rows outside the viewport are not polled. */
const sight = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const row = rows.get(target);
      if (row) row.visible = isIntersecting;
    }
    plan();
  },
  { rootMargin: '200px' },
);
document.addEventListener('visibilitychange', () => {
  // Refresh every row immediately when the page becomes visible again.
  for (const row of rows.values()) row.due = 0;
  plan();
});

/**
 * Keeps a row up to date while it is visible. All rows of the page share one timer and one request;
 * nothing is polled while the page is hidden.
 * @param row must be in the document
 */
export function watch(row: Element, watcher: Watcher): { refresh: () => void; stop: () => void } {
  rows.set(row, { watcher, visible: false, due: 0 });
  sight.observe(row);
  return {
    /** Refreshes the row immediately after an action. */
    refresh() {
      const watched = rows.get(row);
      if (watched) Object.assign(watched, { visible: true, due: 0 });
      plan();
    },
    stop() {
      sight.unobserve(row);
      rows.delete(row);
    },
  };
}

/** Schedules the timer for the row that is due next. */
function plan(): void {
  clearTimeout(timer);
  if (isFetching || document.hidden) return;
  const next = Math.min(...[...rows.values()].filter(({ visible }) => visible).map(({ due }) => due));
  if (next !== Infinity) timer = setTimeout(() => void tick(), Math.max(0, next - Date.now()));
}

/**
 * Returns whether a response applies to a row. A row that requested a refresh while the request was
 * in flight has a new `due` and needs a newer response.
 */
const needsResponse = ({ due }: Watched): boolean => due === Infinity;

async function tick(): Promise<void> {
  const now = Date.now();
  const seen = [...rows.values()].filter(({ visible }) => visible);
  const tenantId = seen.find(({ due }) => due <= now)?.watcher.tenantId;
  // Include rows that are due soon in the same request.
  const turn = seen
    .filter(({ due, watcher }) => due <= now + interval / 4 && watcher.tenantId === tenantId)
    .toSorted((a, b) => a.due - b.due)
    .slice(0, most);
  if (tenantId === undefined) return plan();
  for (const row of turn) row.due = Infinity;
  isFetching = true;
  try {
    const { pipelines } = await snapshots(
      tenantId,
      turn.map(({ watcher }) => watcher.inputId),
    );
    failures = 0;
    const pause = Math.max(interval, seen.length * intervalPerRow);
    for (const row of turn.filter(needsResponse)) {
      const snapshot = pipelines[row.watcher.inputId] ?? null;
      row.due = Date.now() + (snapshot ? pause : idleInterval);
      row.watcher.show(snapshot);
    }
  } catch (error) {
    failures += 1;
    const pause = Math.min(longestPause, interval * 2 ** failures);
    for (const row of turn.filter(needsResponse)) {
      row.due = Date.now() + pause;
      row.watcher.fail(error instanceof Error ? error.message : String(error));
    }
  } finally {
    isFetching = false;
  }
  plan();
}
