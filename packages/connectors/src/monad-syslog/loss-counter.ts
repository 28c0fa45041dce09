import type { Clock, NewLogEntry } from '@connector-frame/engine/connector-api';

/** Log messages for lost input, by cause. */
const causes = {
  udp_lost: 'UDP messages were lost: the buffer was full.',
  udp_refused: 'UDP messages were rejected: only senders with an allowed certificate may send, over TLS.',
  plain_refused: 'connections without TLS were rejected: only senders with an allowed certificate may send.',
  certificate_refused: 'connections were rejected: their client certificate is not allowed.',
  tls_failed: 'TLS handshakes failed.',
  no_tls: 'TLS connections were rejected: this service has no TLS certificate.',
  too_many: 'connections were closed: too many concurrent connections.',
  unfinished: 'messages that had been read were lost when the input was closed.',
} as const;

export type Loss = keyof typeof causes;

/**
 * Counts lost messages and rejected connections, and logs the totals at most once per minute:
 * a sender may be fast.
 */
export class LossCounter {
  readonly #counts = new Map<Loss, number>();
  readonly #closed = new AbortController();
  #logging: Promise<void> | undefined;
  readonly #clock: Clock;
  readonly #log: (entry: Omit<NewLogEntry, 'nodeId'>) => void;
  readonly #everyMs: number;

  constructor(clock: Clock, log: (entry: Omit<NewLogEntry, 'nodeId'>) => void, everyMs = 60_000) {
    this.#clock = clock;
    this.#log = log;
    this.#everyMs = everyMs;
  }

  add(loss: Loss, count = 1): void {
    if (count === 0) return;
    this.#counts.set(loss, (this.#counts.get(loss) ?? 0) + count);
    this.#logging ??= this.#later().finally(() => (this.#logging = undefined));
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#logging;
    this.#flush();
  }

  /**
   * Logs the first losses after one second, so that the cause is visible early, later ones in bulk.
   */
  async #later(): Promise<void> {
    await this.#clock.sleep(Math.min(1_000, this.#everyMs), this.#closed.signal);
    while (this.#flush() && !this.#closed.signal.aborted) await this.#clock.sleep(this.#everyMs, this.#closed.signal);
  }

  #flush(): boolean {
    const logged = this.#counts.size > 0;
    for (const [loss, count] of this.#counts)
      this.#log({ level: 'warn', code: loss, message: `${count.toLocaleString('en')} ${causes[loss]}` });
    this.#counts.clear();
    return logged;
  }
}
