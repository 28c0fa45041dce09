import type { NewLetter, StoredLetter } from './letter-lines.js';

/** Number of dead letters of a node, and the bytes of their lines. */
export interface LetterStats {
  count: number;
  bytes: number;
}

/** Letters of one node. Calls of one process that write must not overlap. */
export interface NodeLetters {
  readonly nodeId: string;
  stats(): Promise<LetterStats>;
  /** Returns whether the letters fit. They always fit at a node without letters. */
  hasRoomFor(letters: readonly NewLetter[]): Promise<boolean>;
  /** Stores letters durably. */
  add(letters: readonly NewLetter[]): Promise<void>;
  /** Deletes the oldest letters until the rest is within the bounds. Returns how many. */
  dropOldest(): Promise<number>;
  /** Returns letters after a sequence, oldest first. */
  list(after: number, limit: number): Promise<StoredLetter[]>;
  /** Returns letters that wait for redelivery, oldest first. */
  replaying(limit: number): Promise<StoredLetter[]>;
  /** Deletes letters by sequence. Returns how many there were. */
  delete(sequences: readonly number[]): Promise<number>;
  /**
   * Marks letters for redelivery. Returns how many were marked now.
   * @param sequences absent: all letters
   */
  replay(sequences?: readonly number[]): Promise<number>;
  /** @param reasons why redelivered letters were refused again, by sequence */
  returnReplayed(reasons: ReadonlyMap<number, string>): Promise<void>;
  /** Deletes all letters. Returns how many there were. */
  purge(): Promise<number>;
}

/** Where the dead letters of one pipeline are. */
export interface LetterStorage {
  /** Returns the ids of the nodes that have or had letters, in alphabetical order. */
  nodeIds(): Promise<string[]>;
  open(nodeId: string): Promise<NodeLetters>;
  /** Deletes everything. */
  remove(): Promise<void>;
  /** Called after letters were marked for redelivery or deleted on request, for other processes. */
  changed?(): void;
}
