/** Shape of `aws_objects` in a type file: see `src/aws-objects.ts`. */
import { isPlain } from '../validate/objects.js';
import { field, secret, setting, template } from './poll-primitives.js';
import { list, map, object, text, word, type Shape } from './shape.js';

const columnsOf = list(text(/^\S[^\r\n]*$/, 'the name of a column'));
const location = text(/^[^\s.]+(?:\.[^\s.]+)*$/, 'a path to the records: "detail.findings"');
const single = object(
  { kind: word('jsonl', 'json', 'wsv', 'csv', 'pipes', 'w3c') },
  { location, columns: columnsOf, empty: text(/^[^\r\n]*$/, 'a text') },
);
const format: Shape = (value, pointer, complain) =>
  (isPlain(value) && Object.hasOwn(value, 'field') ? object({ field: setting, of: map(single) }) : single)(
    value,
    pointer,
    complain,
  );

const shape = object(
  {
    verified: word('documented', 'independent', 'live'),
    documentation: list(text(/^https:\/\/\S+$/, 'an address that begins with https://')),
    access: object({ region: setting }, { role_arn: setting, access_key_id: field, secret_access_key: secret }),
  },
  {
    bucket: object({ name: setting }, { prefix: template, endpoint: template }),
    queue: object(
      {},
      {
        url: setting,
        name: setting,
        messages: word('s3', 'crowdstrike', 'message'),
        records: location,
        schedule: setting,
        visibility: setting,
      },
    ),
    metadata: setting,
    keys: object({}, { any: list(template), none: list(template) }),
    format,
  },
);

const has = (of: unknown, name: string): boolean => isPlain(of) && Object.hasOwn(of, name);

export const awsObjectsShape: Shape = (value, pointer, complain) => {
  shape(value, pointer, complain);
  if (!isPlain(value)) return;
  if (has(value, 'bucket') === has(value, 'queue')) complain(pointer, 'must have "bucket" or "queue"');
  const { queue, access } = value;
  if (has(value, 'queue') && has(queue, 'url') === has(queue, 'name'))
    complain(`${pointer}/queue`, 'must have "url" or "name"');
  if (has(access, 'access_key_id') !== has(access, 'secret_access_key'))
    complain(`${pointer}/access`, 'must have both "access_key_id" and "secret_access_key", or neither');
  if (!has(access, 'access_key_id') && !has(access, 'role_arn'))
    complain(`${pointer}/access`, 'must have a role, an access key, or both');
};
