import type { LogEntry } from '@connector-frame/engine';
import type { CompiledRule } from './compile-rule.js';

/** Entries that a rule has matched at one node since they were taken last. */
export interface LogMatch {
  rule: CompiledRule;
  pipelineId: string;
  /** The latest of them. */
  entry: LogEntry;
  count: number;
}

/** Collects the log entries that rules match, until they are stored as alerts. */
export class LogMatches {
  #matches = new Map<string, LogMatch>();
  /** Sequence of the latest entry, whether it matched or not. */
  #sequence = 0;

  /** Sequence of the latest entry that was seen. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Records that an entry was seen, so that it is not read again after a restart. */
  saw(sequence: number): void {
    this.#sequence = Math.max(this.#sequence, sequence);
  }

  add(rule: CompiledRule, pipelineId: string, entry: LogEntry): void {
    this.#merge({ rule, pipelineId, entry, count: 1 });
  }

  /** Returns what was collected, and forgets it. */
  take(): LogMatch[] {
    const taken = [...this.#matches.values()];
    this.#matches = new Map();
    return taken;
  }

  /** Returns matches that could not be stored. */
  putBack(matches: readonly LogMatch[]): void {
    for (const match of matches) this.#merge(match);
  }

  get isEmpty(): boolean {
    return this.#matches.size === 0;
  }

  #merge(match: LogMatch): void {
    const key = `${match.rule.row.id} ${match.pipelineId} ${match.entry.nodeId ?? ''}`;
    const known = this.#matches.get(key);
    if (!known) this.#matches.set(key, { ...match });
    else {
      known.count += match.count;
      if (match.entry.sequence > known.entry.sequence) known.entry = match.entry;
    }
  }
}
