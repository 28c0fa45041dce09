import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arrived } from '../../../packages/service/src/testing/receiver.js';

/** A sender of records with several keys to one pipeline, in the order of their numbers. */
export interface Sender {
  /** Numbers of records that were acknowledged, in order. */
  readonly acknowledged: readonly number[];
  /** Stops once the records in progress are acknowledged. */
  stop(): Promise<void>;
  /** Stops at once. */
  abandon(): void;
}

export interface SenderOptions {
  /** Address of the input behind a proxy. */
  url: string;
  token: string;
}

/** Records with the same key must stay in order. */
const KEYS = ['a', 'b'];
/** Milliseconds between two requests. */
const PAUSE_MS = 30;

/** Sends records until `stop`. Repeats a request until it is acknowledged, as a sender with retries does. */
export function startSender({ url, token }: SenderOptions): Sender {
  const acknowledged: number[] = [];
  const [over, abandoned] = [new AbortController(), new AbortController()];
  let next = 0;
  async function send(): Promise<void> {
    while (!over.signal.aborted) {
      const numbers = Array.from({ length: 1 + (next % 10) }, () => next++);
      const init = {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/x-ndjson',
          'idempotency-key': randomUUID(),
        },
        body: numbers.map(recordOf).join('\n'),
      };
      while (!(await isAccepted(url, init))) {
        if (abandoned.signal.aborted) return;
        await sleep(20);
      }
      acknowledged.push(...numbers);
      await sleep(PAUSE_MS);
    }
  }
  const sending = send();
  return {
    acknowledged,
    stop() {
      over.abort();
      return sending;
    },
    abandon() {
      over.abort();
      abandoned.abort();
    },
  };
}

async function isAccepted(url: string, init: RequestInit): Promise<boolean> {
  try {
    // The process that has the request may stop without closing the connection.
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(15_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

const recordOf = (n: number): string => JSON.stringify({ key: KEYS[n % KEYS.length], n });

/** Returns the numbers of records that did not arrive, or first arrived after a later record of their key. */
export function compare({ acknowledged }: Sender, { counts }: Arrived): { lost: number[]; early: number[] } {
  const last = new Map<string, number>();
  const early: number[] = [];
  // Keys of a map are in the order of their first arrival.
  for (const text of counts.keys()) {
    const { key, n }: { key: string; n: number } = JSON.parse(text);
    if (n < (last.get(key) ?? 0)) early.push(n);
    last.set(key, n);
  }
  return { lost: acknowledged.filter((n) => !counts.has(recordOf(n))), early };
}
