/** Consistency of values that a `poll` definition takes from settings: lengths of time. */
import type { PollDefinition } from '../types.js';
import { fieldAt } from './check-poll-fields.js';
import type { VisitedField } from './walk.js';

type Add = (pointer: string, message: string) => void;

/** Checks that settings contain what is read from them. */
export function checkValues(poll: PollDefinition, fields: readonly VisitedField[], add: Add): void {
  poll.streams.forEach(({ cursor }, index) => {
    const at = `/streams/${String(index)}/cursor/start`;
    const start = 'start' in cursor ? cursor.start : undefined;
    if (typeof start === 'object') checkDuration(start.ago, start.unit, fields, `${at}/ago`, add);
    else if (start !== undefined && isNumber(fields, start))
      add(at, `names ${start}, which is a number: use { "ago": "${start}", "unit": "hours" }`);
  });
}

function checkDuration(
  path: string,
  unit: string | undefined,
  fields: readonly VisitedField[],
  pointer: string,
  add: Add,
): void {
  const field = fieldAt(fields, path)?.field;
  if (!field) return;
  if (!isNumber(fields, path) && field.type !== 'string')
    return add(pointer, `names ${path}, which is neither a number nor a text`);
  if ('format' in field && field.format === 'date-time')
    return add(pointer, `names ${path}, which is a time and no length of time`);
  const samples = 'examples' in field ? (field.examples ?? []) : [];
  if (unit === undefined && (isNumber(fields, path) || samples.some((each) => /^\d+$/.test(String(each)))))
    add(pointer, `names ${path}, which is a plain number: add "unit"`);
}

const isNumber = (fields: readonly VisitedField[], path: string): boolean => {
  const type = fieldAt(fields, path)?.field.type;
  return type === 'integer' || type === 'number';
};
