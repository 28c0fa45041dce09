import type { PollOmit, PollRecords } from '@connector-frame/catalog/types';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import { holds } from './condition.js';
import { valueOf, type Values } from './template.js';

/** Returns records without the properties that the definition and the settings remove. */
export function withoutOmitted(
  { omit = [] }: Pick<PollRecords, 'omit'>,
  values: Values,
  records: DataRecord[],
): DataRecord[] {
  return [omit].flat().reduce((left, each: PollOmit) => without(each, values, left), records);
}

function without({ properties, except, when }: PollOmit, values: Values, records: DataRecord[]): DataRecord[] {
  const names = new Set(namesOf(properties ?? except, values));
  if (names.size === 0 || !holds(when, values)) return records;
  const isKept = (name: string): boolean => names.has(name) === (except !== undefined);
  return records.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => isKept(name))));
}

function namesOf(source: PollOmit['properties'], values: Values): string[] {
  const names: unknown = typeof source === 'string' ? valueOf(source, values) : source;
  return [names].flat().flatMap((name) => (typeof name === 'string' && name !== '' ? [name] : []));
}
