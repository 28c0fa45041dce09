/** Consistency of addresses and list settings in a `poll` definition. */
import type { PollDefinition, PollEach } from '../types.js';
import { isPlain } from '../validate/objects.js';
import { getAt, joinPointer } from '../validate/pointer.js';
import { discriminatorOf, isGroup, isList, isMap, isUnion, variantsOf } from '../validate/schema.js';
import { namesIn, textsIn } from './poll-texts.js';
import { oneOf } from './problem.js';
import type { VisitedField } from './walk.js';

type Add = (pointer: string, message: string) => void;

export const fieldAt = (fields: readonly VisitedField[], pointer: string): VisitedField | undefined =>
  fields.find(
    ({ path, field, inRow }) =>
      !inRow && (path === pointer || (isUnion(field) && pointer === `${path}/${discriminatorOf(field)}`)),
  );

/** Returns the values of a setting that is a choice, a switch or a list of choices, otherwise `undefined`. */
export function valuesOfChoice(fields: readonly VisitedField[], pointer: string): readonly string[] | undefined {
  const found = fieldAt(fields, pointer)?.field;
  const field = found && isList(found) ? found.items : found;
  if (!field) return undefined;
  if (field.type === 'boolean') return ['true', 'false'];
  if (isUnion(field)) return variantsOf(field).map(({ value }) => value);
  return 'enum' in field ? field.enum : undefined;
}

/** Whether the text at a pointer is an address that secrets are sent to. */
export const isAddress = (pointer: string): boolean =>
  /(?:\/(?:base_url|token_url|api_url)|^\/authentication\/.*\/url)(?:\/of\/[^/]+|\/default)?$/.test(pointer);

/** Checks that settings which decide where secrets are sent are marked, and that choices are complete. */
export function checkAddresses(poll: PollDefinition, fields: readonly VisitedField[], add: Add): void {
  const needMark = (pointer: string, path: string): void => {
    const decides = fieldAt(fields, path)?.field;
    if (decides && decides['x-destination'] !== true)
      add(pointer, `sends secrets to where ${path} says: mark that setting "x-destination"`);
  };
  for (const { pointer, text } of textsIn(poll, ''))
    // The path of a login is appended to `base_url`.
    if (isAddress(pointer) && !text.startsWith('/'))
      for (const name of namesIn(text)) {
        const each = /^(?:each|parent)\b/.test(name) ? eachAt(poll, pointer) : undefined;
        if (each && 'path' in each)
          add(pointer, `can't say {{${name}}}: a response must not decide where credentials are sent`);
        const source = each && 'setting' in each ? each.setting : name;
        needMark(pointer, source === undefined ? name : (poll.values?.[source]?.field ?? source));
      }
  for (const { pointer, value } of choicesIn(poll, '')) {
    const { field, of } = value;
    needMark(`${pointer}/field`, field);
    const values = valuesOfChoice(fields, field);
    if (!of) {
      if (value.default === undefined) add(pointer, `is ${field} itself: use "{{${field}}}", or add "default"`);
      if (values) add(pointer, 'needs "of": an address for each value of the choice');
    } else if (!values && !Object.hasOwn(of, '*')) add(`${pointer}/field`, 'must name a setting with a choice');
    else checkChoice(of, values, add, pointer);
  }
}

/** Returns what the stream at a pointer is read for. */
const eachAt = ({ streams }: PollDefinition, pointer: string): PollEach | undefined =>
  streams[Number(/^\/streams\/(\d+)\//.exec(pointer)?.[1])]?.each;

/** Checks that `of` has each value of a choice, if the setting is one, and no other. */
export function checkChoice(
  of: Readonly<Record<string, unknown>>,
  values: readonly string[] | undefined,
  add: Add,
  pointer: string,
): void {
  for (const each of values ?? [])
    if (!Object.hasOwn(of, each) && !Object.hasOwn(of, '*')) add(`${pointer}/of`, `lacks ${JSON.stringify(each)}`);
  for (const each of values ? Object.keys(of) : [])
    if (each !== '*' && values?.includes(each) !== true)
      add(joinPointer(`${pointer}/of`, each), `is no value of the choice: it has ${oneOf(values ?? [])}`);
}

interface Choice {
  field: string;
  of?: Readonly<Record<string, string>>;
  default?: string;
}

/** Yields the addresses that a setting selects. */
function* choicesIn(value: unknown, pointer: string): Generator<{ pointer: string; value: Choice }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    const at = joinPointer(pointer, key);
    if (isAddress(at) && isChoice(each)) yield { pointer: at, value: each };
    else yield* choicesIn(each, at);
  }
}

const isChoice = (value: unknown): value is Choice => typeof value === 'object' && value !== null && 'field' in value;

/** Checks that lists occur only where they can be sent, since a text can't contain one. */
export function checkListSettings(poll: PollDefinition, fields: readonly VisitedField[], add: Add): void {
  for (const { pointer, text } of textsIn(poll, '')) {
    const inBody = /\/(?:body|graphql\/variables)\//.test(pointer) && /^\{\{[^{}]*\}\}$/.test(text);
    if (/\{\{[^{}]*\|(?:text|number)\}\}/.test(text) && !inBody)
      add(pointer, 'converts a value: only a placeholder that stands alone in a body has a type');
    if (/\{\{[^{}]*\|path\}\}/.test(text) && (inBody || !pointer.endsWith('/path')))
      add(pointer, 'keeps slashes with "|path": only in a "path" would they be encoded');
    for (const path of inBody ? [] : namesIn(text)) {
      const field = path.startsWith('/settings/') ? fields.find((each) => each.path === path)?.field : undefined;
      if (!field) continue;
      if (isList(field))
        add(pointer, `names ${path}, which is a list: use { "list": "${path}", "join": "," } or leave "join" out`);
      else if (isGroup(field) || isMap(field) || isUnion(field))
        add(pointer, `names ${path}, which has fields of its own: name one of them`);
    }
    if (pointer.endsWith('/each/setting')) {
      const each = getAt(poll, pointer.slice(0, -'/setting'.length));
      const field = fields.find(({ path, inRow }) => !inRow && path === text)?.field;
      const inRows = field !== undefined && isList(field) && isGroup(field.items);
      if (inRows !== (isPlain(each) && 'id' in each))
        add(pointer, `${inRows ? 'needs' : 'takes no'} "id": the entries of ${text} are ${inRows ? '' : 'no '}objects`);
    }
    if (pointer.endsWith('/graphql/given')) {
      const field = fields.find(({ path, inRow }) => !inRow && path === text)?.field;
      const rows = field !== undefined && isList(field) && isGroup(field.items) ? field.items.properties : {};
      if (!Object.hasOwn(rows, 'name') || !Object.hasOwn(rows, 'value'))
        add(pointer, `names ${text}, which is no list of objects with "name" and "value"`);
    }
    if (/\/(?:query|form)\/[^/]+\/list$/.test(pointer)) {
      const field = fields.find((each) => each.path === text)?.field;
      if (field && !isList(field))
        add(pointer, `names ${text}, which is no list: use "{{${text}}}", or "split" in "values"`);
    }
  }
}
