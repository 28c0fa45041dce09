/**
 * Consistency of a `receive` definition: pointers refer to fields, templates to available values, and
 * no secret is part of a record or a response.
 */
import type { ConnectorTypeData, ReceiveAuthentication, ReceiveDefinition } from '../types.js';
import { isList } from '../validate/schema.js';
import { placeholdersIn, textsIn } from './poll-texts.js';
import { oneOf, type Problem } from './problem.js';
import { fieldsOf, type VisitedField } from './walk.js';

type Add = (pointer: string, message: string) => void;

const NOW = /^now:(?:seconds|milliseconds|rfc3339)$/;
const HEADER = /^header\.[A-Za-z0-9-]+$/;

/** Checks the `receive` of a type. Its shape must already be valid. */
export function checkReceive(file: string, data: ConnectorTypeData): Problem[] {
  const { receive } = data;
  if (!receive) return [];
  const problems: Problem[] = [];
  const add: Add = (pointer, message) => void problems.push({ file, pointer: `/receive${pointer}`, message });
  if (data.kind !== 'input') add('', 'belongs to inputs: an output is written with "delivery"');
  if (data.poll) add('', 'excludes "poll": an input is either sent to or read');
  checkFields(receive, fieldsOf(data), add);
  checkPlaceholders(receive, add);
  checkAuthentication(receive, add);
  for (const [index, url] of receive.documentation.entries())
    if (!URL.canParse(url)) add(`/documentation/${String(index)}`, 'is no address');
  return problems;
}

function checkFields(receive: ReceiveDefinition, fields: readonly VisitedField[], add: Add): void {
  const known = new Map(fields.flatMap(({ path, field, inRow }) => (inRow ? [] : [[path, field] as const])));
  const { authentication: _authentication, ...rest } = receive;
  for (const { pointer, text } of textsIn(receive, ''))
    for (const path of text.startsWith('/') ? [text] : placeholdersIn(text))
      if (/^\/(?:settings|secrets)\//.test(path) && !known.has(path))
        add(pointer, `names ${path}, which is no field of this type`);
  for (const { pointer, text } of textsIn(rest, ''))
    if (text.includes('/secrets/')) add(pointer, 'names a secret: secrets are in "authentication" only');
  const { query_fields: query, attributes, only } = receive.records;
  for (const path of [query, attributes?.names, only?.in]) {
    const field = path === undefined ? undefined : known.get(path);
    if (path !== undefined && field && !isList(field)) add('/records', `names ${path}, which is no list`);
  }
}

function checkPlaceholders(
  { authentication, records, challenge, response, rejected }: ReceiveDefinition,
  add: Add,
): void {
  const verify = (value: unknown, at: string, allowed: readonly (RegExp | string)[]): void => {
    for (const { pointer, text } of textsIn(value, at))
      for (const name of placeholdersIn(text))
        if (!allowed.some((each) => (typeof each === 'string' ? each === name : each.test(name))))
          add(pointer, `can't say {{${name}}} here`);
  };
  verify(records, '/records', [HEADER, NOW, /^\/settings\//]);
  verify(challenge?.json, '/challenge/json', ['value']);
  verify(response?.json, '/response/json', [HEADER, NOW]);
  verify(rejected?.json, '/rejected/json', [HEADER, NOW, 'message']);
  for (const [index, each] of [authentication].flat().entries()) {
    const at = `/authentication/${String(index)}`;
    if (each.kind === 'hmac') verify(each.signed, at, ['body', HEADER, ...(each.timestamp ? ['timestamp'] : [])]);
    if (each.kind === 'jwt') verify(each.key.json, at, ['kid']);
  }
}

function checkAuthentication({ authentication }: ReceiveDefinition, add: Add): void {
  const all: readonly ReceiveAuthentication[] = [authentication].flat();
  for (const [index, each] of all.entries()) {
    const at = `/authentication/${String(index)}`;
    if (each.kind === 'token' && index !== all.length - 1) add(at, 'must be the last: it needs no field');
    if (each.kind !== 'hmac') continue;
    const signed = each.signed ?? '{{body}}';
    if (!signed.includes('{{body}}')) add(`${at}/signed`, `must contain ${oneOf(['{{body}}'])}`);
    if (each.timestamp && !signed.includes('{{timestamp}}'))
      add(`${at}/signed`, 'must contain "{{timestamp}}": a time that is not signed proves nothing');
  }
}
