import type { Message } from 'kafkajs';
import {
  type Batch,
  type DataRecord,
  type KeyPath,
  parseKeyPath,
  valueAt,
} from '@connector-frame/engine/connector-api';

/** A message, and the indexes of the batch's records that it contains. */
export interface RecordMessage {
  indexes: readonly number[];
  message: Message;
}

export interface MessageOptions {
  /** Sends one array per key instead of one message per record. */
  arrays: boolean;
  /** Record field to use as the message key. */
  keyField: string | undefined;
  headers: Record<string, string>;
}

/** Converts a batch to messages. */
export function toMessages(batch: Batch, options: MessageOptions): RecordMessage[] {
  const path = options.keyField === undefined ? undefined : parseKeyPath(options.keyField);
  const keys = path ? batch.records.map((record) => keyOf(record, path)) : [];
  const all = [...batch.lines.keys()];
  if (!options.arrays) return all.map((index) => toMessage(batch, [index], keys[index], options));
  const groups = new Map<string | undefined, number[]>();
  for (const index of all) groups.set(keys[index], [...(groups.get(keys[index]) ?? []), index]);
  return [...groups].map(([key, indexes]) => toMessage(batch, indexes, key, options));
}

/**
 * Halves a list of messages. A single message becomes two, with half of its records each.
 *
 * @returns `undefined` if there is only one record
 */
export function split(
  messages: readonly RecordMessage[],
  batch: Batch,
  options: MessageOptions,
): [RecordMessage[], RecordMessage[]] | undefined {
  const [first] = messages;
  if (messages.length > 1) {
    const middle = Math.ceil(messages.length / 2);
    return [messages.slice(0, middle), messages.slice(middle)];
  }
  if (!first || first.indexes.length < 2) return undefined;
  const middle = Math.ceil(first.indexes.length / 2);
  const key = first.message.key?.toString();
  const half = (indexes: readonly number[]): RecordMessage[] => [toMessage(batch, indexes, key, options)];
  return [half(first.indexes.slice(0, middle)), half(first.indexes.slice(middle))];
}

function toMessage(
  batch: Batch,
  indexes: readonly number[],
  key: string | undefined,
  options: MessageOptions,
): RecordMessage {
  const lines = indexes.map((index) => batch.lines[index] ?? '');
  const value = options.arrays ? `[${lines.join(',')}]` : (lines[0] ?? '');
  return { indexes, message: { key: key ?? null, value, headers: options.headers } };
}

function keyOf(record: DataRecord, path: KeyPath): string | undefined {
  const value = valueAt(record, path);
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
