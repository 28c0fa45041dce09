import { context, isSpanContextValid, trace, type Context, type Link, type SpanContext } from '@opentelemetry/api';

/** Batches that are remembered, the newest of a pipeline. */
const MAX_BATCHES = 4_096;
/** Links of one span. Many senders may share a batch, and many batches a request. */
const MAX_LINKS = 32;

/** Where the span of a delivery belongs. */
export interface Origin {
  /** Context of the first sender, or without a span if none sent one. */
  parent: Context;
  /** The other senders. */
  links: Link[];
}

/**
 * Remembers in which traces the records of a batch arrived, so that their delivery continues these
 * traces. Kept in memory: after a restart, deliveries of buffered batches start new traces.
 */
export class BatchTraces {
  readonly #senders = new Map<string, readonly SpanContext[]>();

  /** Returns the span of the current call, if it is recorded. */
  static current(): SpanContext | undefined {
    const span = trace.getSpanContext(context.active());
    return span && isSpanContextValid(span) ? span : undefined;
  }

  /** Remembers the senders of a batch. Call it before the batch can be delivered. */
  remember(batchId: string, senders: readonly SpanContext[]): void {
    if (senders.length === 0) return;
    this.#senders.set(batchId, senders.slice(0, MAX_LINKS));
    if (this.#senders.size <= MAX_BATCHES) return;
    const [oldest] = this.#senders.keys();
    if (oldest !== undefined) this.#senders.delete(oldest);
  }

  /** Returns where the span of a delivery of these batches belongs. */
  originOf(batchIds: readonly string[]): Origin {
    const senders = batchIds.flatMap((id) => this.#senders.get(id) ?? []);
    const [first, ...others] = senders.slice(0, MAX_LINKS);
    return {
      parent: first ? trace.setSpanContext(context.active(), first) : context.active(),
      links: others.map((sender) => ({ context: sender })),
    };
  }
}
