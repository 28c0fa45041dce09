import type { DataRecord } from '../records/record.js';
import type { Failure } from './ends.js';
import type { NewLogEntry } from './pipeline-log.js';
import type { EndFacts } from './pipeline-state.js';

interface EndHealth {
  /** It has answered in this run. */
  answered: boolean;
  failures: number;
  permanent: boolean;
  throttledUntil?: number;
  /** Batches that were read for it and are not acknowledged. */
  open: number;
  /** It has acknowledged a batch in this run. */
  acknowledged: boolean;
}

/** How the ends of a pipeline do, as their answers and failures tell. */
export class Health {
  readonly #ends = new Map<string, EndHealth>();
  /** The last failure, as a report holds it. */
  lastError: DataRecord | undefined;

  /** @param changed told when the state of an end may be another one */
  constructor(
    private readonly now: () => number,
    private readonly log: (entry: NewLogEntry) => void,
    private readonly changed: () => void,
  ) {}

  /** A run begins: what was true of the last one is not known of this one. */
  reset(nodeIds: readonly string[]): void {
    this.#ends.clear();
    for (const id of nodeIds)
      this.#ends.set(id, { answered: false, failures: 0, permanent: false, open: 0, acknowledged: false });
  }

  /** An end answered as it should. */
  answered(nodeId: string): void {
    const end = this.#ends.get(nodeId);
    if (!end) return;
    const news = !end.answered || end.failures > 0 || end.permanent || end.throttledUntil !== undefined;
    if (end.failures > 0) this.log({ level: 'info', code: 'recovered', message: 'It works again.', nodeId });
    end.answered = true;
    end.failures = 0;
    end.permanent = false;
    delete end.throttledUntil;
    if (news) this.changed();
  }

  /** Batches were read for an output; less than none: they were given up again. */
  opened(nodeId: string, batches: number): void {
    const end = this.#ends.get(nodeId);
    if (end) end.open = Math.max(0, end.open + batches);
  }

  /** An output has all of a batch. */
  acknowledged(nodeId: string): void {
    const end = this.#ends.get(nodeId);
    if (!end) return;
    end.open = Math.max(0, end.open - 1);
    const news = !end.acknowledged;
    end.acknowledged = true;
    this.answered(nodeId);
    if (news) this.changed();
  }

  /** @param waitMs until the next try */
  failed(nodeId: string, { code, message, kind }: Failure, waitMs: number): void {
    this.lastError = { at: this.now(), node_id: nodeId, code, message };
    this.log({ level: kind === 'throttled' ? 'warn' : 'error', code, message, nodeId });
    const end = this.#ends.get(nodeId);
    if (end) {
      if (kind === 'throttled') end.throttledUntil = this.now() + waitMs;
      else end.failures += 1;
      end.permanent = kind === 'permanent';
    }
    this.changed();
  }

  /** By node id. */
  get facts(): Record<string, EndFacts> {
    const facts = [...this.#ends].map(([id, end]): [string, EndFacts] => [
      id,
      {
        acknowledged: end.answered && (end.acknowledged || end.open === 0),
        failures: end.failures,
        permanent: end.permanent,
        ...(end.throttledUntil !== undefined && { throttledUntil: end.throttledUntil }),
      },
    ]);
    return Object.fromEntries(facts);
  }
}
