import type { PollOnly, PollRecords } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import { valueOf, type Values } from './template.js';

/** Whether a record passes the filters that settings configure. */
export function isSelected({ only = [] }: Pick<PollRecords, 'only'>, values: Values, record: DataRecord): boolean {
  return [only].flat().every((each: PollOnly) => passes(each, values, record));
}

function passes(only: PollOnly, values: Values, record: DataRecord): boolean {
  const settings = (source: string | undefined): string[] =>
    source === undefined ? [] : textsOf(valueOf(source, values));
  const found = textsOf(getAt(record, only.path));
  const [wanted, unwanted] = [settings(only.field), settings(only.not)];
  const [least, most] = [settings(only.at_least)[0], settings(only.at_most)[0]];
  if (found.length === 0) {
    if (only.missing !== undefined) return only.missing === true || valueOf(only.missing, values) === true;
    return wanted.length === 0 && least === undefined && most === undefined && only.ends === undefined;
  }
  return (
    (wanted.length === 0 || found.some((each) => wanted.includes(each))) &&
    !found.some((each) => unwanted.includes(each)) &&
    (only.ends === undefined || found.some((each) => only.ends?.some((end) => each.endsWith(end)))) &&
    (least === undefined || found.some((each) => Number(each) >= Number(least))) &&
    (most === undefined || found.some((each) => Number(each) <= Number(most)))
  );
}

const textsOf = (value: unknown): string[] =>
  [value]
    .flat()
    .flatMap((each) => (['string', 'number', 'boolean'].includes(typeof each) && each !== '' ? [String(each)] : []));
