import { isRecord, type JsonValue } from '../../records/record.js';
import { at } from '../read.js';

/** A pass over a table that is under way. Numbers of transactions have 64 bits, as text. */
export interface Scan {
  /** Rows of transactions before this one belong to the pass: all of those have ended. */
  horizon: string;
  /** No transaction had this number yet when the pass began, and the largest value there was then. */
  fence: Fence;
  /** Where it began; absent: at the beginning of the table. */
  from?: string;
  /** Cursor value and ties of the last row that was passed; absent at the start. */
  after?: readonly string[];
  /** The smallest value seen in a row that is too young for this pass. */
  hold?: string;
  /** The largest value so far. */
  top?: string;
}

/** Transactions from `xid` on write larger values than `value`. */
export interface Fence {
  xid: string;
  value?: string;
}

/** How far one table was read. */
export interface TableCursor {
  /** What the table was, and the column it is read by: another one is another order. */
  identity: string;
  column: string;
  /** Rows of transactions before this one were delivered. */
  horizon: string;
  /** The largest value that was delivered. */
  top?: string;
  /** No row that is still to come has a smaller value; absent: that is not known yet. */
  low?: string;
  /** The smallest value of a row that was too young for the pass before. */
  hold?: string;
  /** What `low` may become. */
  fence?: Fence;
  scan?: Scan;
}

export type InputCursor = Record<string, TableCursor>;

/** What was committed; what is not of this shape is left out, and read again. */
export function readInputCursor(cursor: JsonValue | undefined): InputCursor {
  const tables = at(cursor, 'tables');
  if (!isRecord(tables)) return {};
  return Object.fromEntries(
    Object.entries(tables).flatMap(([name, value]): [string, TableCursor][] => {
      const table = readTable(value);
      return table ? [[name, table]] : [];
    }),
  );
}

/** As the engine keeps it. */
export function writeInputCursor(tables: InputCursor): JsonValue {
  const value: JsonValue = JSON.parse(JSON.stringify({ tables }));
  return value;
}

function readTable(value: unknown): TableCursor | undefined {
  const [identity, column, horizon] = ['identity', 'column', 'horizon'].map((key) => word(value, key));
  const [top, low, hold] = ['top', 'low', 'hold'].map((key) => word(value, key));
  if (identity === undefined || column === undefined || horizon === undefined) return undefined;
  const fence = readFence(at(value, 'fence'));
  const scan = readScan(at(value, 'scan'));
  return {
    identity,
    column,
    horizon,
    ...(top !== undefined && { top }),
    ...(low !== undefined && { low }),
    ...(hold !== undefined && { hold }),
    ...(fence && { fence }),
    ...(scan && { scan }),
  };
}

function readScan(value: unknown): Scan | undefined {
  const horizon = word(value, 'horizon');
  const fence = readFence(at(value, 'fence'));
  if (horizon === undefined || !fence) return undefined;
  const after = at(value, 'after');
  const [from, hold, top] = ['from', 'hold', 'top'].map((key) => word(value, key));
  return {
    horizon,
    fence,
    ...(from !== undefined && { from }),
    ...(Array.isArray(after) && { after: after.filter((each): each is string => typeof each === 'string') }),
    ...(hold !== undefined && { hold }),
    ...(top !== undefined && { top }),
  };
}

function readFence(value: unknown): Fence | undefined {
  const [xid, largest] = [word(value, 'xid'), word(value, 'value')];
  return xid === undefined ? undefined : { xid, ...(largest !== undefined && { value: largest }) };
}

function word(value: unknown, key: string): string | undefined {
  const found = at(value, key);
  return typeof found === 'string' ? found : undefined;
}
