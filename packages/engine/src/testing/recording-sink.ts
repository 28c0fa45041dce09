import type { Appended, AppendOptions, Sink } from '../connector-api/index.js';
import type { NewLogEntry } from '../connector-api/log-entry.js';

/** A sink in memory that can be full and, like a real one, drops duplicates by position. */
export class RecordingSink implements Sink {
  readonly lines: string[] = [];
  readonly notes: Omit<NewLogEntry, 'nodeId'>[] = [];
  readonly #positions = new Set<string>();
  /** Rejects appends after their `waitMs` has passed. */
  full = false;
  appends = 0;

  async append(lines: readonly string[], { position, waitMs = 0, signal }: AppendOptions = {}): Promise<Appended> {
    this.appends += 1;
    for (let waited = 0; this.full; waited += 10) {
      if (waited >= waitMs || signal?.aborted === true) return { stored: false, reason: 'full' };
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    if (position === undefined || !this.#positions.has(position)) this.lines.push(...lines);
    if (position !== undefined) this.#positions.add(position);
    return { stored: true, tooLarge: [] };
  }

  note(entry: Omit<NewLogEntry, 'nodeId'>): void {
    this.notes.push(entry);
  }

  get records(): Record<string, unknown>[] {
    return this.lines.map((line): Record<string, unknown> => JSON.parse(line));
  }

  get messages(): unknown[] {
    return this.records.map(({ message }) => message);
  }
}
