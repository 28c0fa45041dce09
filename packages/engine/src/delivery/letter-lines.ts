import { readFile } from 'node:fs/promises';
import { isErrno } from '../files/is-errno.js';
import { isRecord } from '../connector-api/record.js';

/** A letter as it is stored. */
export interface StoredLetter {
  /** Unique within the pipeline, and ordered within the node. */
  readonly id: string;
  readonly nodeId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly reason: string;
  readonly recordId: string;
  /** JSON of the record. */
  readonly line: string;
  /** How often it was redelivered and refused again. */
  readonly replays: number;
  /** It waits for redelivery. */
  readonly isReplaying: boolean;
}

/** A letter to store. */
export interface NewLetter {
  reason: string;
  recordId: string;
  line: string;
  at?: number;
}

/** What happened to a letter since it was stored; the last one counts. */
export type Change = { gone: true } | { replay: true } | { reason: string; replays: number };

/** A letter in a file. */
export interface Found {
  sequence: number;
  letter: StoredLetter;
  /** Bytes in the file. */
  size: number;
}

/** Returns the complete lines of a file. */
export async function linesOf(path: string): Promise<string[]> {
  try {
    return (await readFile(path, 'utf8')).split('\n').slice(0, -1);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Returns the line of a letter. */
export function encode(sequence: number, letter: NewLetter & { replays?: number }, now: number): string {
  const { at = now, reason, recordId, replays = 0, line } = letter;
  const about = { seq: sequence, at, reason, record_id: recordId, ...(replays > 0 && { replays }) };
  return `${JSON.stringify(about).slice(0, -1)},"record":${line}}`;
}

const RECORD = ',"record":';

/** Parses the line of a letter; `undefined` if it is gone or not valid. */
export function decode(line: string, nodeId: string, changes: ReadonlyMap<number, Change>): Found | undefined {
  const at = line.indexOf(RECORD);
  const about = parse(at < 0 ? '' : `${line.slice(0, at)}}`);
  if (!isRecord(about)) return undefined;
  const { seq: sequence, at: time, reason, record_id: recordId, replays } = about;
  if (typeof sequence !== 'number' || typeof time !== 'number') return undefined;
  if (typeof reason !== 'string' || typeof recordId !== 'string') return undefined;
  const change = changes.get(sequence);
  if (change && 'gone' in change) return undefined;
  const letter: StoredLetter = {
    id: `${nodeId}.${sequence}`,
    nodeId,
    at: time,
    reason,
    recordId,
    // The text of the record, with all digits of its numbers.
    line: line.slice(at + RECORD.length, -1),
    replays: typeof replays === 'number' ? replays : 0,
    isReplaying: change !== undefined && 'replay' in change,
    ...(change && 'reason' in change && change),
  };
  return { sequence, letter, size: Buffer.byteLength(line) + 1 };
}

/** Parses the line of a change. */
export function readChange(line: string, changes: Map<number, Change>): void {
  const [, kind, digits, rest] = /^([-rb])(\d+)(?: (.*))?$/.exec(line) ?? [];
  const sequence = Number(digits);
  if (kind === '-') changes.set(sequence, { gone: true });
  if (kind === 'r') changes.set(sequence, { replay: true });
  const change = kind === 'b' ? parse(rest ?? '') : undefined;
  if (!isRecord(change)) return;
  const { reason, replays } = change;
  if (typeof reason === 'string' && typeof replays === 'number') changes.set(sequence, { reason, replays });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
