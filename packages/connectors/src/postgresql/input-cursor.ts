import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { at } from '../_shared/read.js';

/**
 * State of an unfinished pass over a table. Transaction IDs have 64 bits and are stored as strings.
 */
export interface Scan {
  /** The pass covers rows of transactions before this ID; all of those have ended. */
  horizon: string;
  /**
   * The first transaction ID not yet assigned when the pass started, and the largest cursor value
   * at that time.
   */
  fence: Fence;
  /** Cursor value at which the pass started; absent: the beginning of the table. */
  from?: string;
  /** Cursor value and tie-breakers of the last scanned row; absent at the start. */
  after?: readonly string[];
  /** Smallest cursor value of a row that is too recent for this pass. */
  hold?: string;
  /** Largest cursor value delivered so far. */
  top?: string;
}

/** Transactions from `xid` on write cursor values larger than `value`. */
export interface Fence {
  xid: string;
  value?: string;
}

/** Read position in one table. */
export interface TableCursor {
  /** Identity of the table, and its cursor column. A change of either restarts the scan. */
  identity: string;
  column: string;
  /** Rows of transactions before this ID have been delivered. */
  horizon: string;
  /** Largest cursor value delivered. */
  top?: string;
  /** Lower bound of the cursor values of rows still to come; absent: unknown. */
  low?: string;
  /** Smallest cursor value of a row that was too recent for the previous pass. */
  hold?: string;
  /** The next `low`, valid once all transactions before `fence.xid` have ended. */
  fence?: Fence;
  scan?: Scan;
}

export type InputCursor = Record<string, TableCursor>;

/**
 * Parses a committed cursor. Drops malformed positions; their tables are read from the beginning.
 */
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

/** Serializes the positions for the engine. */
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
