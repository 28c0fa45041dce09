import type { Clock } from '@connector-frame/engine/connector-api';
import type { Queue, QueueMessage } from '../_shared/aws/queue.js';

/** Keeps messages hidden from other readers until `release` is called. */
export function holdMessages(
  queue: Queue,
  messages: readonly QueueMessage[],
  { seconds, clock, signal }: { seconds: number; clock: Clock; signal: AbortSignal },
): { release(): void } {
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const handles = messages.map(({ handle }) => handle);
  async function keep(): Promise<void> {
    for (;;) {
      await clock.sleep((seconds * 1_000) / 3, both);
      if (both.aborted) return;
      // The next attempt is early enough.
      await queue.hide(handles, seconds, both).catch(() => undefined);
    }
  }
  void keep();
  return { release: () => ended.abort('released') };
}
