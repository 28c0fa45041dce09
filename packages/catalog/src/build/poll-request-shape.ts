/** Shape of the requests of a `poll` definition: see `src/poll-request.ts`. */
import { isPlain } from '../validate/objects.js';
import { joinPointer } from '../validate/pointer.js';
import { givenPath, line, path, setting, template } from './poll-primitives.js';
import { responses } from './poll-responses-shape.js';
import { source } from './poll-values-shape.js';
import { list, map, object, some, text, whole, word, yes, type Shape } from './shape.js';

/** JSON with templates. */
const json: Shape = (value, pointer, complain) => {
  if (typeof value === 'string' || Array.isArray(value) || isPlain(value)) {
    if (typeof value === 'string') return;
    for (const [key, each] of Object.entries(value)) {
      const at = joinPointer(pointer, key);
      if (key.includes('{{') && key !== '{{when}}') complain(at, 'must be a name, or "{{when}}"');
      if (key === '{{when}}' && !(typeof each === 'string' && /\{\{[^{}]+\}\}/.test(each)))
        complain(at, 'must be a text with the placeholder that needs a value');
      json(each, at, complain);
    }
  } else if (value !== null && typeof value !== 'number' && typeof value !== 'boolean')
    complain(pointer, 'must be JSON');
};

const container: Shape = (value, pointer, complain) => {
  if (Array.isArray(value) || isPlain(value)) json(value, pointer, complain);
  else complain(pointer, 'must be an object or a list');
};

const base = text(
  /^(?:https:\/\/[^\s/?#]+(?:\/[^\s?#]*[^\s?#/])?|\{\{\/settings\/[^{}]+\}\}(?:\/[^\s?#]*[^\s?#/])?)$/,
  'an address with https:// and no slash at the end, or one that begins with "{{/settings/...}}"',
);

/** See `PollAddress`. */
export const address: Shape = (value, pointer, complain) =>
  (isPlain(value) ? object({ field: setting }, { of: map(base), default: base }) : base)(value, pointer, complain);

/** See `PollParameter`. */
const parameterValue: Shape = (value, pointer, complain) => {
  if (typeof value === 'number' || typeof value === 'boolean') return;
  const shape = isPlain(value)
    ? object(
        { list: Array.isArray(value['list']) ? list(template) : source },
        { join: text(/^.{1,5}$/, 'a separator'), item: text(/\{\{item\}\}/, 'a text with "{{item}}"') },
      )
    : some(template);
  shape(value, pointer, complain);
};

const lineStart = text(/^\S.*$/, 'the beginning of a line');

/** Keys of a request, to be combined with those of a stream, a list or a check. */
export const request = {
  required: { path: text(/^(?:\/[^\s?#]*)?$/, 'a path that begins with "/", or "" for the address alone') },
  optional: {
    method: word('GET', 'POST', 'PUT'),
    base_url: address,
    role: template,
    format: word('json', 'ndjson', 'csv', 'xml', 'lines'),
    csv: object(
      {},
      {
        delimiter: text(/^.$/, 'one character'),
        columns: list(line),
        comment: lineStart,
        header: lineStart,
        skip: whole(1, 100),
      },
    ),
    page_line: word('first', 'last'),
    query: map(parameterValue),
    headers: map(template),
    body: container,
    form: map(parameterValue),
    download_hosts: list(text(/^(?:[a-z0-9-]+\.)+[a-z]{2,}$/, 'the name of a host, like "s3.amazonaws.com"')),
    responses,
    graphql: object({ query: text(/\S/, 'a GraphQL query') }, { variables: map(json), given: setting }),
  },
};

const added = text(/^(?:(?:\/[^/]+)*|[^/\r\n][^\r\n]*)$/, 'a pointer into the response, or a text');

const value: Shape = (each, pointer, complain) => {
  if (typeof each !== 'string' && typeof each !== 'number') complain(pointer, 'must be a text or a number');
};

/** See `PollCondition`. */
export const when = some(object({ field: source }, { in: list(value), empty: yes }));

const missing: Shape = (value, pointer, complain) => (value === true ? undefined : setting(value, pointer, complain));

/** See `PollOnly`. */
export const only: Shape = (value, pointer, complain) => {
  object({ path }, { field: source, not: source, at_least: source, at_most: source, ends: list(line), missing })(
    value,
    pointer,
    complain,
  );
  if (isPlain(value) && Object.keys(value).length < 2)
    complain(pointer, 'compares nothing: add "field", "not", "at_least", "at_most", "ends" or "missing"');
};

const names: Shape = (value, pointer, complain) =>
  (Array.isArray(value) ? list(line) : source)(value, pointer, complain);

/** See `PollOmit`. */
export const omit: Shape = (value, pointer, complain) => {
  object({}, { properties: names, except: names, when })(value, pointer, complain);
  if (isPlain(value) && 'properties' in value === 'except' in value)
    complain(pointer, 'must have either "properties" or "except"');
};

/** Keys of `PollRecordList`. */
export const recordList = {
  required: { path: some(givenPath) },
  optional: {
    shape: word('list', 'map', 'object', 'any', 'rows'),
    key: line,
    columns: some(line),
    add: map(added),
    json: list(text(/^\/[^/]+$/, 'the pointer of a property, like "/message"')),
    optional: yes,
  },
};
