import type { Clock, CreateInput, JsonValue, Page, PageInput } from '@connector-frame/engine/connector-api';
import { texts } from '../_shared/read.js';
import { Subscription } from './subscription.js';

/** Seconds until messages are delivered again that are neither acknowledged nor extended. */
const DEADLINE_S = 120;
const EXTEND_MS = 60_000;

/**
 * Creates an input that acknowledges messages once the engine has stored their records. The ids to
 * acknowledge are part of the cursor, so that a restart after the commit acknowledges them, too.
 */
export const createPubSubInput: CreateInput = (config, { egress, clock }) =>
  new PubSubInput(new Subscription(config, egress, clock), clock);

class PubSubInput implements PageInput {
  readonly kind = 'pages';
  readonly intervalMs = 1_000;
  /** Id of a message of the last page that was acknowledged. */
  #acknowledged: string | undefined;
  readonly #subscription: Subscription;
  readonly #clock: Clock;

  constructor(subscription: Subscription, clock: Clock) {
    this.#subscription = subscription;
    this.#clock = clock;
  }

  async *pages(cursor: JsonValue | undefined, signal: AbortSignal): AsyncGenerator<Page, void, void> {
    await this.#acknowledge(texts(cursor, 'ackIds'), signal);
    while (!signal.aborted) {
      const messages = await this.#subscription.pull(signal);
      if (messages.length === 0) return;
      const ackIds = messages.map(({ ackId }) => ackId);
      await this.#subscription.extend(ackIds, DEADLINE_S, signal);
      const held = new AbortController();
      const extending = this.#extend(ackIds, AbortSignal.any([signal, held.signal]));
      try {
        yield { records: messages.map(({ record }) => record), cursor: { ackIds } };
      } finally {
        held.abort();
        await extending;
      }
      await this.#acknowledge(ackIds, signal);
    }
  }

  async #acknowledge(ackIds: readonly string[], signal: AbortSignal): Promise<void> {
    if (ackIds[0] === this.#acknowledged) return;
    await this.#subscription.acknowledge(ackIds, signal);
    this.#acknowledged = ackIds[0];
  }

  /** Extends the deadline for as long as the records are on their way. */
  async #extend(ackIds: readonly string[], signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#clock.sleep(EXTEND_MS, signal);
      if (signal.aborted) return;
      // If it fails, the messages are delivered again.
      await this.#subscription.extend(ackIds, DEADLINE_S, signal).catch(() => undefined);
    }
  }
}
