/** Consistency of conditions in a `poll` definition: they can hold, and can fail to. */
import type { PollCondition, PollDefinition } from '../types.js';
import { isList } from '../validate/schema.js';
import { fieldAt, valuesOfChoice } from './check-poll-fields.js';
import { oneOf } from './problem.js';
import type { VisitedField } from './walk.js';

type Add = (pointer: string, message: string) => void;

export function checkConditions(
  { streams, values = {} }: PollDefinition,
  fields: readonly VisitedField[],
  add: Add,
): void {
  const names = Object.keys(values);
  for (const [index, { when, detail, acknowledge, records }] of streams.entries()) {
    const at = `/streams/${String(index)}`;
    checkAll(when, names, fields, (pointer, message) => add(`${at}/when${pointer}`, message));
    checkAll(acknowledge?.when, names, fields, (pointer, message) => add(`${at}/acknowledge/when${pointer}`, message));
    checkAll(detail?.when, names, fields, (pointer, message) => add(`${at}/detail/when${pointer}`, message));
    for (const [position, { when: holds }] of [records.omit ?? []].flat().entries())
      checkAll(holds, names, fields, (pointer, message) =>
        add(`${at}/records/omit${Array.isArray(records.omit) ? `/${String(position)}` : ''}/when${pointer}`, message),
      );
  }
}

function checkAll(
  when: PollCondition | readonly PollCondition[] | undefined,
  names: readonly string[],
  fields: readonly VisitedField[],
  add: Add,
): void {
  if (when === undefined) return;
  if (!isConditions(when)) return checkCondition(when, names, fields, add);
  for (const [index, each] of when.entries())
    checkCondition(each, names, fields, (pointer, message) => add(`/${String(index)}${pointer}`, message));
}

const isConditions = (when: PollCondition | readonly PollCondition[]): when is readonly PollCondition[] =>
  Array.isArray(when);

function checkCondition(
  { field: path, in: values }: PollCondition,
  names: readonly string[],
  fields: readonly VisitedField[],
  add: Add,
): void {
  if (!path.startsWith('/') && !names.includes(path)) return add('/field', 'names none of "values"');
  const field = fieldAt(fields, path)?.field;
  if (!field || values === undefined) return;
  if (field.type === 'boolean') return add('/in', `is for values: ${path} is true or false, so leave it out`);
  const items = isList(field) ? field.items : undefined;
  const known = items && 'enum' in items ? items.enum : valuesOfChoice(fields, path);
  for (const [index, value] of values.entries())
    if (known && !known.includes(String(value)))
      add(`/in/${String(index)}`, `is no value of ${path}: it has ${oneOf(known)}`);
}
