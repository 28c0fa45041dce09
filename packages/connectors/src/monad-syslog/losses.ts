import type { Clock, NewLogEntry } from '@connector-frame/engine/connector-api';

/** Log messages for lost input, by cause. */
const causes = {
  udp_lost: 'UDP messages were lost: the buffer was full.',
  udp_refused: 'UDP messages were refused: only senders with an allowed certificate may send, over TLS.',
  plain_refused: 'connections without TLS were refused: only senders with an allowed certificate may send.',
  certificate_refused: 'connections were refused: their client certificate is not among those that are allowed.',
  tls_failed: 'TLS connections could not be made.',
  no_tls: 'TLS connections were refused: this service has no certificate for them.',
  too_many: 'connections were refused or cut: too many at once.',
  unfinished: 'messages that had been read were lost when the input was closed.',
} as const;

export type Loss = keyof typeof causes;

/**
 * Counts lost messages and rejected connections, and logs the totals at most once per minute:
 * a sender may be fast.
 */
export class Losses {
  readonly #counts = new Map<Loss, number>();
  readonly #over = new AbortController();
  #telling: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly tell: (entry: Omit<NewLogEntry, 'nodeId'>) => void,
    private readonly everyMs = 60_000,
  ) {}

  add(loss: Loss, count = 1): void {
    if (count === 0) return;
    this.#counts.set(loss, (this.#counts.get(loss) ?? 0) + count);
    this.#telling ??= this.#later().finally(() => (this.#telling = undefined));
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#telling;
    this.#flush();
  }

  /**
   * Logs the first losses after one second, so that the cause is visible early, later ones in bulk.
   */
  async #later(): Promise<void> {
    await this.clock.sleep(Math.min(1_000, this.everyMs), this.#over.signal);
    while (this.#flush() && !this.#over.signal.aborted) await this.clock.sleep(this.everyMs, this.#over.signal);
  }

  #flush(): boolean {
    const told = this.#counts.size > 0;
    for (const [loss, count] of this.#counts)
      this.tell({ level: 'warn', code: loss, message: `${count.toLocaleString('en')} ${causes[loss]}` });
    this.#counts.clear();
    return told;
  }
}
