/** Shape of `delivery` in a type file: the keys defined in `src/delivery.ts` and the values each takes. */
import { isPlain } from '../validate/objects.js';
import { joinPointer } from '../validate/pointer.js';
import { authenticationShape } from './poll-authentication-shape.js';
import { kinds, list, map, object, some, text, whole, word, yes, type Shape } from './shape.js';

const template = text(/^[^\r\n]+$/, 'a text in one line');
const path = text(/^(?:\/[^/]+)*$/, 'a pointer into the response, like "/data/items", or "" for all of it');
const field = text(/^\/(?:settings|secrets)\/[^/]+(?:\/[^/]+)*$/, 'the pointer of a field');
const name = text(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'a name without spaces');
const sentence = text(/^[A-Z][^\r\n]*\.$/, 'a sentence that ends with a period');
const status = whole(200, 599);

const address: Shape = text(
  /^(?:https:\/\/[^\s/?#]+(?:\/[^\s?#]*[^\s?#/])?|\{\{\/(?:settings|secrets)\/[^{}]+\}\}[^\s?#]*)$/,
  'an address with https:// and no slash at the end, or one that begins with "{{/settings/...}}"',
);
const choice = object({ field, of: map(address) });
const base: Shape = (value, pointer, complain) => (isPlain(value) ? choice : address)(value, pointer, complain);

const value: Shape = (given, pointer, complain) => {
  if (!['string', 'number', 'boolean'].includes(typeof given))
    complain(pointer, 'must be a text, a number or a boolean');
};

/** Any JSON. `{{first}}` holds a list. */
const json: Shape = (given, pointer, complain) => {
  if (Array.isArray(given)) given.forEach((each, index) => json(each, joinPointer(pointer, index), complain));
  if (!isPlain(given)) return;
  if (Object.hasOwn(given, '{{first}}') && (Object.keys(given).length > 1 || !Array.isArray(given['{{first}}'])))
    complain(pointer, 'must be {"{{first}}": [...]}, with nothing else');
  for (const [key, each] of Object.entries(given)) json(each, joinPointer(pointer, key), complain);
};

const match = {
  status: some(status),
  path,
  header: name,
  in: list(value),
  not: list(value),
  contains: text(/\S/, 'a text'),
};
const request = { query: map(template), headers: map(template) };
const requestPath = text(/^(?:\/[^\s?#]*)?$/, 'a path that begins with "/", or ""');
const bodyKind = word('json', 'lines', 'form');

const body = kinds({
  json: object({ kind: bodyKind, template: json }, { record: json }),
  lines: object({ kind: bodyKind }, { record: json, action: json }),
  form: object({ kind: bodyKind, fields: map(template) }),
});
const limits = object(
  { records: whole(1, 100_000), bytes: whole(1_000, 33_554_432) },
  {
    records_from: field,
    record_bytes: whole(100, 33_554_432),
    concurrency: whole(1, 64),
    interval_ms: whole(1, 60_000),
  },
);
const check = kinds({
  request: object(
    { kind: word('request'), path: requestPath, summary: text(/^[A-Z].*[^.]$/, 'a sentence without a period') },
    {
      ...request,
      method: word('GET', 'POST', 'PUT', 'PATCH', 'HEAD'),
      base_url: base,
      body: json,
      text: text(/^/, 'a text'),
      accepted: object({}, match),
    },
  ),
  reach: object({ kind: word('reach') }),
});
const means = word(
  'accepted',
  'refused',
  'throttled',
  'retry',
  'invalid_credentials',
  'forbidden',
  'not_found',
  'rejected',
);
const responses = object(
  {},
  {
    accepted: object({}, match),
    rules: list(object({ means }, { ...match, message: sentence })),
    partial: object(
      { path },
      {
        status: list(status),
        format: word('lines'),
        index: path,
        first: whole(0, 1),
        failed: object({ path }, { in: list(value), not: list(value) }),
        retry: object({ path, in: list(value) }),
      },
    ),
  },
);
const compression: Shape = (given, pointer, complain) =>
  (isPlain(given) ? object({ field }) : word('gzip'))(given, pointer, complain);

const method = word('POST', 'PUT', 'PATCH');
const required = { base_url: some(base), path: requestPath, body, limits, check };
const optional = {
  ...request,
  method,
  authentication: authenticationShape,
  authenticate_if: field,
  group: template,
  prepare: list(
    object(
      { path: requestPath },
      { ...request, body: json, text: template, method, accepted: object({}, match), only_if: field },
    ),
  ),
  tls: object({}, { group: field, skip_verify: field, ca: field }),
  compression,
  ordered: yes,
  responses,
};

export const deliveryShape = object(
  {
    ...required,
    verified: word('documented', 'independent', 'live'),
    documentation: list(text(/^https:\/\/\S+$/, 'the address of a page, with https://')),
  },
  { ...optional, variants: object({ field, of: map(object({}, { ...required, ...optional })) }) },
);
