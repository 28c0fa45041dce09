import { isRecord, type DataRecord, type JsonValue } from './record.js';

/** Why an enabled pipeline is suspended. */
export interface Suspension {
  /** A stable code. */
  readonly code: string;
  /** Message for users, written by us, with what to do. */
  readonly message: string;
  /** When it ends, in milliseconds since the epoch. Absent: it has to be lifted. */
  readonly until?: number;
}

/** Parses a suspension in a report. Reports of earlier releases have none. */
export function suspensionIn(value: JsonValue | undefined): Suspension | undefined {
  if (!isRecord(value)) return undefined;
  const { code, message, until } = value;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  return { code, message, ...(typeof until === 'number' && { until }) };
}

/** Returns whether two suspensions tell users the same. */
export const isSameSuspension = (one: Suspension | undefined, other: Suspension | undefined): boolean =>
  one?.code === other?.code && one?.message === other?.message && one?.until === other?.until;

export const reportedSuspension = ({ code, message, until }: Suspension): DataRecord => ({
  code,
  message,
  ...(until !== undefined && { until }),
});
