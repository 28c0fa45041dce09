import type { KeyPath } from '../../connector-api/key-path.js';
import { ConnectorError } from '../../connector-api/index.js';
import { guardProgram } from './guard-program.js';
import { jqPools } from './jq-pool.js';
import type { Ran } from './jq-thread.js';
import type { JqOutcome, JqRejection } from './protocol.js';

/** Time slice in milliseconds before a program must yield its thread. */
const SLICE_MS = 500;
/** Milliseconds for which a program is treated as slow. */
const SLOW_MS = 60_000;
/** Number of times jq may time out before the first record; then the whole batch is rejected. */
const MAX_FAILED_STARTS = 2;

/** A customer's jq program. All programs share the threads fairly, by time slices. */
export class JqProgram {
  readonly #program: string;
  #slowUntil = 0;
  #succeeded = false;

  /** @param path keys to where in the record an output goes; absent: an output is a record */
  constructor(query: string, path?: KeyPath) {
    this.#program = guardProgram(query, path);
  }

  /**
   * Runs the program on records and returns the outcomes in order, or `undefined` if aborted by
   * `signal`.
   * @param lines one JSON object per line
   * @param bounds `maxBytes` of output and `maxMs` of thread time in milliseconds for all records;
   *   one time slice may exceed them
   * @throws {ConnectorError} `jq`, of kind `retry`: no thread can be started
   */
  async run(
    lines: readonly string[],
    { signal, maxBytes, maxMs }: { signal: AbortSignal; maxBytes: number; maxMs: number },
  ): Promise<readonly JqOutcome[] | undefined> {
    const outcomes: JqOutcome[] = [];
    const rejected = new Map<number, JqRejection>();
    const spent: Spent = { ms: 0, bytes: 0, starts: 0 };
    while (outcomes.length < lines.length) {
      const from = outcomes.length;
      const reason = rejected.get(from) ?? exhausted(spent, maxBytes, maxMs);
      if (reason !== undefined) {
        // Skips a record that is known to fail; if the limits are exhausted, rejects all remaining
        // records.
        outcomes.push(...lines.slice(from, rejected.has(from) ? from + 1 : undefined).map(() => reason));
        continue;
      }
      const end = Math.min(lines.length, ...[...rejected.keys()].filter((index) => index > from));
      const ran = await this.#runSlice(lines.slice(from, end));
      if (signal.aborted) return undefined;
      spent.ms += ran.ms;
      if (ran.kind === 'response') {
        const { invalid, outcomes: more } = ran.response;
        if (invalid !== undefined) return lines.map(() => 'jq_invalid');
        outcomes.push(...more);
        spent.bytes += sizeOf(more);
      } else if (ran.at >= 0) rejected.set(from + ran.at, ran.reason);
      else if (ran.reason === 'jq_timeout') spent.starts += 1;
      else throw new ConnectorError('jq', 'jq could not be started.');
    }
    return outcomes;
  }

  async #runSlice(lines: readonly string[]): Promise<Ran> {
    const slow = performance.now() < this.#slowUntil;
    const pool = slow ? jqPools.slow : this.#succeeded ? jqPools.fast : jqPools.fresh;
    const ran = await pool.run({ program: this.#program, lines, sliceMs: SLICE_MS });
    this.#succeeded = ran.kind === 'response' && ran.response.outcomes.length === lines.length;
    if (!this.#succeeded) this.#slowUntil = performance.now() + SLOW_MS;
    return ran;
  }
}

interface Spent {
  ms: number;
  bytes: number;
  starts: number;
}

function exhausted({ ms, bytes, starts }: Spent, maxBytes: number, maxMs: number): JqRejection | undefined {
  if (ms > maxMs || starts >= MAX_FAILED_STARTS) return 'jq_timeout';
  return bytes > maxBytes ? 'jq_output_too_large' : undefined;
}

function sizeOf(outcomes: readonly JqOutcome[]): number {
  let bytes = 0;
  for (const outcome of outcomes) if (typeof outcome !== 'string') for (const line of outcome) bytes += line.length;
  return bytes;
}
