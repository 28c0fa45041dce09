/** Shape of `receive` in a type file: the keys defined in `src/receive.ts` and the values each takes. */
import { field, line, name, path, setting, template } from './poll-primitives.js';
import { kinds, list, map, object, some, text, whole, word, type Shape } from './shape.js';

const anything: Shape = () => undefined;
const sentence = text(/^[A-Z][^\r\n]*\.$/, 'a sentence that ends with a period');
const seconds = whole(1, 86_400);

const authentication = kinds({
  token: object({ kind: word('token') }, { header: name }),
  header: object({ kind: word('header'), header: name, secret: field }, { prefix: line }),
  basic: object({ kind: word('basic'), user: field, password: field }),
  hmac: object(
    {
      kind: word('hmac'),
      header: name,
      secret: field,
      algorithm: word('sha256', 'sha512', 'sha1'),
      encoding: word('hex', 'base64'),
    },
    { prefix: line, signed: template, timestamp: object({ header: name, tolerance_seconds: seconds }) },
  ),
  jwt: object(
    {
      kind: word('jwt'),
      header: name,
      algorithm: word('ES256', 'RS256'),
      key: object({
        url: text(/^https:\/\/[^\s/?#]+\/[^\s?#]+$/, 'an address with https:// and a path'),
        json: map(line),
        path,
        expired: path,
      }),
      body_claim: line,
      max_age_seconds: seconds,
    },
    { only_if: setting },
  ),
});

const value: Shape = (given, pointer, complain) => {
  if (typeof given !== 'string' && typeof given !== 'boolean') complain(pointer, 'must be a text or a boolean');
};

const records = object(
  { format: word('json', 'syslog') },
  {
    path,
    data: object({ path }, { compression: setting }),
    fields: map(template),
    query_fields: setting,
    attributes: object({ header: name, path, names: setting }),
    only: object({ path, in: setting }),
  },
);

export const receiveShape = object(
  {
    verified: word('documented', 'independent', 'live'),
    documentation: list(text(/^https:\/\/\S+$/, 'the address of a page, with https://')),
    authentication: some(authentication),
    records,
    max_bytes: whole(1_024, 33_554_432),
  },
  {
    challenge: object({ method: word('GET'), header: name, json: anything }),
    id: name,
    response: object({}, { status: whole(200, 299), json: anything }),
    rejected: object({ json: anything }),
    unsupported: list(object({ field: setting, in: list(value), message: sentence })),
  },
);
