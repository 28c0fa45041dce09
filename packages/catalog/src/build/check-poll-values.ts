/** Consistency of what a `poll` definition takes from settings: computed values and lengths of time. */
import type { PollDefinition, PollNumber, PollValue } from '../types.js';
import { isGroup, isList } from '../validate/schema.js';
import { checkChoice, fieldAt, valuesOfChoice } from './check-poll-fields.js';
import { namesIn, textsIn } from './poll-texts.js';
import { RESERVED } from './poll-names.js';
import type { VisitedField } from './walk.js';

type Add = (pointer: string, message: string) => void;
type Fields = readonly VisitedField[];

/** Checks that settings have the types that are read from them, and that computed values are used by their type. */
export function checkValues(poll: PollDefinition, fields: Fields, add: Add): void {
  const { values = {}, ...rest } = poll;
  poll.streams.forEach(({ cursor }, index) => {
    const at = `/streams/${String(index)}/cursor/start`;
    const start = 'start' in cursor ? cursor.start : undefined;
    if (typeof start === 'object') checkDuration(start.ago, start.unit, fields, `${at}/ago`, add);
    else if (start !== undefined && isNumber(fields, start))
      add(at, `names ${start}, which is a number: use { "ago": "${start}", "unit": "hours" }`);
  });
  for (const [name, value] of Object.entries(values)) checkValue(name, value, fields, add);
  checkNumbers(poll, fields, add);
  checkUse(rest, values, fields, add);
}

/** Checks numbers and switches that are taken from settings. */
function checkNumbers({ interval_seconds: interval, rate, streams }: PollDefinition, fields: Fields, add: Add): void {
  const seconds = (value: PollNumber | undefined, at: string): void => {
    if (typeof value === 'object') checkDuration(value.field, value.unit, fields, `${at}/field`, add);
  };
  const count = (path: string, at: string): void => {
    const field = fieldAt(fields, path)?.field;
    if (field && !isNumber(fields, path) && field.type !== 'string') add(at, `names ${path}, which is no number`);
  };
  seconds(interval, '/interval_seconds');
  if (typeof rate?.limit === 'object') count(rate.limit.field, '/rate/limit/field');
  streams.forEach(({ cursor, page_size: size, records }, index) => {
    const at = `/streams/${String(index)}`;
    if (typeof size === 'object') count(size.field, `${at}/page_size/field`);
    if ('longest_seconds' in cursor) seconds(cursor.longest_seconds, `${at}/cursor/longest_seconds`);
    for (const { missing } of [records.only ?? []].flat())
      if (typeof missing === 'string' && fieldAt(fields, missing)?.field.type !== 'boolean')
        add(`${at}/records/only`, `names ${missing} in "missing", which is no switch`);
  });
}

function checkValue(name: string, value: PollValue, fields: Fields, add: Add): void {
  const at = `/values/${name}`;
  const { field: path, of, split, first, json, path: inside } = value;
  if (RESERVED.includes(name)) add(at, 'is the name of a placeholder that exists: choose another');
  if ([split, first, json, of, inside, value.default].every((part) => part === undefined))
    add(at, `is ${path} itself: use it in place of this value`);
  const field = fieldAt(fields, path)?.field;
  if (!field) return;
  if ((split !== undefined || json !== undefined) && field.type !== 'string')
    add(`${at}/field`, `names ${path}, which is no text`);
  if (split !== undefined && json !== undefined) add(at, 'has "split" and "json": keep one');
  const objects = isList(field) && isGroup(field.items) ? field.items.properties : undefined;
  if ((objects !== undefined) !== (inside !== undefined))
    add(at, `${objects ? 'needs' : 'takes no'} "path": ${path} is ${objects ? 'a' : 'no'} list of objects`);
  else if (objects && inside !== undefined && !Object.hasOwn(objects, inside.slice(1)))
    add(`${at}/path`, `names ${inside}, which is no field of the objects in ${path}`);
  if (first && split === undefined && !isList(field)) add(`${at}/field`, `names ${path}, which is no list`);
  if (of) checkChoice(of, split === undefined ? valuesOfChoice(fields, path) : undefined, add, at);
}

/** Checks that a list or JSON occurs only where it can be sent. */
function checkUse(
  poll: Omit<PollDefinition, 'values'>,
  values: Readonly<Record<string, PollValue>>,
  fields: Fields,
  add: Add,
): void {
  const used = new Set<string>();
  for (const { pointer, text } of textsIn(poll, '')) {
    const isAlone = /\/(?:body|graphql\/variables)\//.test(pointer) && /^\{\{[^{}]*\}\}$/.test(text);
    for (const name of namesIn(text)) {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      used.add(name);
      if (value && isListValue(value, fields) && !isAlone)
        add(pointer, `names ${name}, which is a list: use { "list": "${name}", "join": "," } or leave "join" out`);
    }
    const isSource =
      /\/(?:(?:query|form)\/[^/]+\/list|records\/only(?:\/\d+)?\/(?:field|not|at_least|at_most)|records\/omit(?:\/\d+)?\/(?:properties|except)|each\/setting)$/.test(
        pointer,
      );
    // `check-poll-condition.ts` checks conditions.
    if (/\/when(?:\/\d+)?\/field$/.test(pointer)) used.add(text);
    if (!isSource || text.startsWith('/') || text === 'ids') continue;
    used.add(text);
    const value = Object.hasOwn(values, text) ? values[text] : undefined;
    if (!value) add(pointer, `names ${text}, which is not in "values"`);
    else if (pointer.endsWith('/list') && !isListValue(value, fields))
      add(pointer, `names ${text}, which is no list: use "{{${text}}}"`);
  }
  for (const name of Object.keys(values)) if (!used.has(name)) add(`/values/${name}`, 'is used nowhere');
}

function isListValue(value: PollValue, fields: Fields): boolean {
  const field = fieldAt(fields, value.field)?.field;
  const results = [...Object.values(value.of ?? {}), value.default];
  return (
    (value.first !== true && (value.split !== undefined || (field !== undefined && isList(field)))) ||
    value.json === true ||
    results.some((result) => Array.isArray(result))
  );
}

function checkDuration(path: string, unit: string | undefined, fields: Fields, pointer: string, add: Add): void {
  const field = fieldAt(fields, path)?.field;
  if (!field) return;
  if (!isNumber(fields, path) && field.type !== 'string')
    return add(pointer, `names ${path}, which is neither a number nor a text`);
  if ('format' in field && field.format === 'date-time')
    return add(pointer, `names ${path}, which is a time and no length of time`);
  const samples = 'examples' in field ? (field.examples ?? []) : [];
  if (unit === undefined && (isNumber(fields, path) || samples.some((each) => /^\d+$/.test(each))))
    add(pointer, `names ${path}, which is a plain number: add "unit"`);
}

const isNumber = (fields: Fields, path: string): boolean => {
  const type = fieldAt(fields, path)?.field.type;
  return type === 'integer' || type === 'number';
};
