import { createRequire } from 'node:module';

/** The members of kafkajs's `RequestQueue` that scheduling needs. There is one per connection. */
interface RequestQueue {
  pending: readonly unknown[];
  /** Milliseconds since the epoch, or -1. */
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

/** kafkajs's own interval for requests that wait without being throttled, in milliseconds. */
const CHECK_MS = 10;

/**
 * Stops kafkajs from polling its request queues. Version 2.2.4 checks the queue of every connection
 * each millisecond, whether or not a request waits, which takes 3 to 4 % of a core for an idle
 * input (https://github.com/tulios/kafkajs/issues/1704, decision 022). Afterwards it checks only
 * while requests wait.
 *
 * @throws TypeError if this version of kafkajs has no such queue
 */
export function stopIdlePolling(): void {
  const load: (id: string) => { prototype: Partial<RequestQueue> } = createRequire(import.meta.url);
  const queue = load('kafkajs/src/network/requestQueue/index.js').prototype;
  if (!queue.scheduleCheckPendingRequests)
    throw new TypeError('kafkajs has another request queue: review decision 022');
  queue.scheduleCheckPendingRequests = schedule;
}

function schedule(this: RequestQueue): void {
  if (this.throttleCheckTimeoutId || this.pending.length === 0) return;
  const throttled = this.throttledUntil - Date.now();
  this.throttleCheckTimeoutId = setTimeout(
    () => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    },
    throttled > 0 ? throttled : CHECK_MS,
  );
}
