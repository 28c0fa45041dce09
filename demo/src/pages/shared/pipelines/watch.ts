import { snapshots } from './api.js';
import type { PipelineSnapshot } from './shapes.js';

/** A row of the page that wants to know how its pipeline does. */
export interface Watcher {
  tenantId: string;
  inputId: string;
  /** `null`: its input has no pipeline. */
  show(snapshot: PipelineSnapshot | null): void;
  /** Nothing can be learned just now; it is asked again. */
  fail(message: string): void;
}

interface Watched {
  watcher: Watcher;
  visible: boolean;
  /** When it is to be asked for again. */
  due: number;
}

/** Milliseconds between two questions about a row; more rows are asked for less often, one that has nothing to tell seldom. */
const interval = 2_000;
const intervalPerRow = 200;
const idleInterval = 10_000;
const longestPause = 30_000;
/** Rows in one question. */
const most = 20;

const rows = new Map<Element, Watched>();
let timer: ReturnType<typeof setTimeout> | undefined;
let asking = false;
let failures = 0;

/** Rows out of sight are not asked for. */
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
  // Who comes back sees what is, and not what was.
  for (const row of rows.values()) row.due = 0;
  plan();
});

/**
 * Keeps a row up to date while it can be seen. One timer and one request serve all rows of the page, and none while the page is hidden.
 * @param row stands in the document
 */
export function watch(row: Element, watcher: Watcher): { ask: () => void; stop: () => void } {
  rows.set(row, { watcher, visible: false, due: 0 });
  sight.observe(row);
  return {
    /** Asks at once: something was done. */
    ask() {
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

/** Sets the one timer to when the next row is due. */
function plan(): void {
  clearTimeout(timer);
  if (asking || document.hidden) return;
  const next = Math.min(...[...rows.values()].filter(({ visible }) => visible).map(({ due }) => due));
  if (next !== Infinity) timer = setTimeout(() => void tick(), Math.max(0, next - Date.now()));
}

/** What is asked for again while an answer is on its way is due before it comes: it wants a newer one. */
const answered = ({ due }: Watched): boolean => due === Infinity;

async function tick(): Promise<void> {
  const now = Date.now();
  const seen = [...rows.values()].filter(({ visible }) => visible);
  const tenantId = seen.find(({ due }) => due <= now)?.watcher.tenantId;
  // Whoever is due soon comes along.
  const turn = seen
    .filter(({ due, watcher }) => due <= now + interval / 4 && watcher.tenantId === tenantId)
    .toSorted((a, b) => a.due - b.due)
    .slice(0, most);
  if (tenantId === undefined) return plan();
  for (const row of turn) row.due = Infinity;
  asking = true;
  try {
    const { pipelines } = await snapshots(
      tenantId,
      turn.map(({ watcher }) => watcher.inputId),
    );
    failures = 0;
    const pause = Math.max(interval, seen.length * intervalPerRow);
    for (const row of turn.filter(answered)) {
      const snapshot = pipelines[row.watcher.inputId] ?? null;
      row.due = Date.now() + (snapshot ? pause : idleInterval);
      row.watcher.show(snapshot);
    }
  } catch (error) {
    failures += 1;
    const pause = Math.min(longestPause, interval * 2 ** failures);
    for (const row of turn.filter(answered)) {
      row.due = Date.now() + pause;
      row.watcher.fail(error instanceof Error ? error.message : String(error));
    }
  } finally {
    asking = false;
  }
  plan();
}
