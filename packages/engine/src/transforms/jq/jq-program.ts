import type { KeyPath } from '../../connector-api/key-path.js';
import { ConnectorError } from '../../connector-api/index.js';
import { guardProgram } from './guard-program.js';
import { jqLanes } from './jq-pool.js';
import type { Ran } from './jq-thread.js';
import type { JqOutcome, JqRefusal } from './protocol.js';

/** Time slice in milliseconds before a program must yield its thread. */
const SLICE_MS = 500;
/** Milliseconds for which a program is treated as slow. */
const SLOW_MS = 60_000;
/** Number of times jq may time out before the first record; then the whole batch is rejected. */
const STARTS = 2;

/** A customer's jq program. All programs share the threads fairly, by time slices. */
export class JqProgram {
  readonly #program: string;
  #slowUntil = 0;
  #doneWell = false;

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
    const refused = new Map<number, JqRefusal>();
    const spent: Spent = { ms: 0, bytes: 0, starts: 0 };
    while (outcomes.length < lines.length) {
      const from = outcomes.length;
      const reason = refused.get(from) ?? exhausted(spent, maxBytes, maxMs);
      if (reason !== undefined) {
        // Skips a record that is known to fail; if the limits are exhausted, rejects all remaining
        // records.
        outcomes.push(...lines.slice(from, refused.has(from) ? from + 1 : undefined).map(() => reason));
        continue;
      }
      const end = Math.min(lines.length, ...[...refused.keys()].filter((index) => index > from));
      const ran = await this.#turn(lines.slice(from, end));
      if (signal.aborted) return undefined;
      spent.ms += ran.ms;
      if (ran.kind === 'answer') {
        const { invalid, outcomes: more } = ran.answer;
        if (invalid !== undefined) return lines.map(() => 'jq_invalid');
        outcomes.push(...more);
        spent.bytes += sizeOf(more);
      } else if (ran.at >= 0) refused.set(from + ran.at, ran.why);
      else if (ran.why === 'jq_timeout') spent.starts += 1;
      else throw new ConnectorError('jq', 'jq could not be started.');
    }
    return outcomes;
  }

  async #turn(lines: readonly string[]): Promise<Ran> {
    const slow = performance.now() < this.#slowUntil;
    const lane = slow ? jqLanes.slow : this.#doneWell ? jqLanes.fast : jqLanes.fresh;
    const ran = await lane.run({ program: this.#program, lines, sliceMs: SLICE_MS });
    this.#doneWell = ran.kind === 'answer' && ran.answer.outcomes.length === lines.length;
    if (!this.#doneWell) this.#slowUntil = performance.now() + SLOW_MS;
    return ran;
  }
}

interface Spent {
  ms: number;
  bytes: number;
  starts: number;
}

function exhausted({ ms, bytes, starts }: Spent, maxBytes: number, maxMs: number): JqRefusal | undefined {
  if (ms > maxMs || starts >= STARTS) return 'jq_timeout';
  return bytes > maxBytes ? 'jq_output_too_large' : undefined;
}

function sizeOf(outcomes: readonly JqOutcome[]): number {
  let bytes = 0;
  for (const outcome of outcomes) if (typeof outcome !== 'string') for (const line of outcome) bytes += line.length;
  return bytes;
}
