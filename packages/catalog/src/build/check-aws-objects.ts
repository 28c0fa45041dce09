/** Consistency of an `aws_objects` definition: its pointers lead to fields, and choices are complete. */
import type { ConnectorTypeData } from '../types.js';
import { valuesOfChoice } from './check-poll-fields.js';
import { placeholdersIn, textsIn } from './poll-texts.js';
import type { Problem } from './problem.js';
import { fieldsOf } from './walk.js';

/** Settings that say the format, if the definition has none. */
const FORMAT = ['/settings/format', '/settings/compression'];

/** Checks the `aws_objects` of a type. Its shape must already be valid. */
export function checkAwsObjects(file: string, data: ConnectorTypeData): Problem[] {
  const { aws_objects: definition } = data;
  if (!definition) return [];
  const problems: Problem[] = [];
  const add = (pointer: string, message: string): void =>
    void problems.push({ file, pointer: `/aws_objects${pointer}`, message });
  if (data.kind !== 'input') add('', 'belongs to inputs');
  if (data.poll) add('', 'excludes "poll"');
  const fields = new Set(fieldsOf(data).map(({ path }) => path));
  for (const { pointer, text } of textsIn(definition, '')) {
    const paths = /^\/(?:settings|secrets)\//.test(text)
      ? [text]
      : placeholdersIn(text).filter((name) => name.startsWith('/'));
    for (const path of paths) if (!fields.has(path)) add(pointer, `names ${path}, which is no field of this type`);
    if (paths.some((path) => path.startsWith('/secrets/')) && !pointer.startsWith('/access/'))
      add(pointer, 'holds a secret: secrets are in "access" only');
  }
  const { format, queue } = definition;
  if (format && 'field' in format) {
    for (const value of valuesOfChoice(fieldsOf(data), format.field) ?? [])
      if (!Object.hasOwn(format.of, value)) add('/format/of', `lacks ${JSON.stringify(value)}`);
  } else if (!format && queue?.messages !== 'message') {
    for (const path of FORMAT) if (!fields.has(path)) add('', `needs "format", or the field ${path}`);
  }
  return problems;
}
