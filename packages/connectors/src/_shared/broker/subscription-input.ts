import { type Clock, type PushInput, type Sink } from '@connector-frame/engine/connector-api';
import { brokerError } from './connection.js';

/** A connection with a subscription. */
export interface Subscription {
  /** Settles when the connection ends. Never rejects. */
  readonly ended: Promise<void>;
  /** Ends it: what is stored is acknowledged before. Idempotent. */
  close(): Promise<void>;
}

export interface SubscriptionOptions {
  /** As used in a sentence: `MQTT`. */
  product: string;
  clock: Clock;
  /**
   * Connects and subscribes.
   * @param signal aborted when the input closes
   * @throws ConnectorError or any error of the client
   */
  subscribe: (sink: Sink, signal: AbortSignal) => Promise<Subscription>;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/** Creates an input that keeps a subscription, and subscribes again whenever the connection breaks. */
export function createSubscriptionInput({ product, clock, subscribe }: SubscriptionOptions): PushInput {
  const closing = new AbortController();
  let running: Promise<void> | undefined;

  async function open(sink: Sink): Promise<Subscription> {
    try {
      return await subscribe(sink, closing.signal);
    } catch (error) {
      throw brokerError(error, product);
    }
  }

  /** Subscribes again, with growing delays. `undefined`: the input was closed. */
  async function reopen(sink: Sink): Promise<Subscription | undefined> {
    let reported: string | undefined;
    for (let delay = FIRST_DELAY_MS; !closing.signal.aborted; delay = Math.min(delay * 2, MAX_DELAY_MS)) {
      // Random, so that many inputs don't return to a restarted broker at the same time.
      await clock.sleep(delay * (0.5 + Math.random() / 2), closing.signal);
      if (closing.signal.aborted) return undefined;
      try {
        return await open(sink);
      } catch (error) {
        const { code, message } = brokerError(error, product);
        if (code !== reported) sink.note?.({ level: 'error', code, message });
        reported = code;
      }
    }
    return undefined;
  }

  async function keepOpen(sink: Sink, first: Subscription): Promise<void> {
    for (let current: Subscription | undefined = first; current;) {
      const { ended } = current;
      await Promise.race([ended, aborted(closing.signal)]);
      await current.close();
      if (closing.signal.aborted) return;
      sink.note?.({ level: 'warn', code: 'disconnected', message: `The connection to ${product} broke.` });
      current = await reopen(sink);
      if (current) sink.note?.({ level: 'info', code: 'connected', message: `Connected to ${product} again.` });
    }
  }

  return {
    kind: 'push',
    // A broker would send each message to every process.
    isExclusive: true,
    async start(sink) {
      running = keepOpen(sink, await open(sink));
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
