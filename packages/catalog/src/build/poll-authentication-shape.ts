/** Shape of `authentication` in a `poll` definition: see `src/poll-authentication.ts`. */
import { isPlain } from '../validate/objects.js';
import { joinPointer } from '../validate/pointer.js';
import { field, line, name, path, secret, setting, template } from './poll-primitives.js';
import { kinds, list, map, object, text, whole, word, yes, type Shape } from './shape.js';

const credential = template;
/** Text that may have several lines. */
const lines = text(/^[^]*$/, 'a text');
const placeholder = text(/^[a-z][a-z0-9_]*$/, 'a name of lower-case letters, digits and "_"');
const suffix = text(/^\.[a-z0-9-]+(?:\.[a-z0-9-]+)+$/, 'the end of a host name, with a dot before it: ".acme.com"');

const addresses =
  (pattern: RegExp, expected: string): Shape =>
  (value, pointer, complain) => {
    const address = text(pattern, expected);
    (isPlain(value) ? object({ field: setting, of: map(address) }) : address)(value, pointer, complain);
  };
const ADDRESS = String.raw`(?:https:\/\/[^\s/?#]+|\{\{\/settings\/[^{}]+\}\})(?:\/[^\s?#]*)?`;
const tokenUrl = addresses(
  new RegExp(`^${ADDRESS}$`),
  'an address that begins with https://, or with "{{/settings/...}}"',
);
const loginUrl = addresses(
  new RegExp(String.raw`^(?:${ADDRESS}|\/[^\s?#]*)$`),
  'an address that begins with https://, or a path that begins with "/"',
);

const carried = { headers: map(credential), query: map(credential) };
const host = object({ path, suffixes: list(suffix) });
const tokenUse = {
  token: path,
  expires: path,
  lifetime_seconds: whole(10, 31_536_000),
  header: name,
  prefix: line,
  also: object({}, carried),
  host,
};
const tokenRequest = {
  client: word('basic', 'body'),
  body: word('form', 'json'),
  scopes: list(template),
  audience: template,
  parameters: map(credential),
  headers: map(credential),
  ...tokenUse,
};

const keyFormat = word('pem', 'service_account', 'text', 'base64');
const claim: Shape = (value, pointer, complain) => {
  if (typeof value !== 'number' && typeof value !== 'boolean') template(value, pointer, complain);
};
const jwt = {
  algorithm: word('RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'PS256', 'HS256', 'HS384', 'HS512'),
  key_id: credential,
  issuer: credential,
  subject: credential,
  audience: template,
  jwt_lifetime_seconds: whole(10, 86_400),
  claims: map(claim),
};

/** JSON whose texts are credentials. */
const json: Shape = (value, pointer, complain) => {
  if (typeof value === 'string') credential(value, pointer, complain);
  else if (isPlain(value) || Array.isArray(value))
    for (const [key, each] of Object.entries(value)) json(each, joinPointer(pointer, key), complain);
};
const loginValue: Shape = (value, pointer, complain) => {
  const from = ['header', 'cookie'].find((key) => isPlain(value) && Object.hasOwn(value, key));
  const shape: Shape =
    from === undefined ? object({ path }, { optional: yes }) : object({ [from]: name }, { optional: yes });
  shape(value, pointer, complain);
};
/** Needs an access key, a role, or both. */
const awsSignature: Shape = (value, pointer, complain) => {
  const keys = { access_key_id: field, secret_access_key: secret };
  const role = { role_arn: setting };
  const has = (name: string): boolean => isPlain(value) && Object.hasOwn(value, name);
  const common = { kind: word('aws_sigv4'), region: template, service: line };
  if (has('role_of_request'))
    return object(common, { role_of_request: yes, region_of_host: yes })(value, pointer, complain);
  const hasKey = !has('role_arn') || has('access_key_id') || has('secret_access_key');
  object(
    { ...common, ...(hasKey ? keys : role) },
    { region_of_host: yes, ...(hasKey && { ...role, session_token: secret, external_id: setting }) },
  )(value, pointer, complain);
};
const loginRequest = object(
  { url: loginUrl },
  {
    method: word('GET', 'POST', 'PUT'),
    ...carried,
    basic: object({ user: credential }, { password: credential }),
    json,
    form: map(credential),
    format: word('json', 'xml'),
    values: map(loginValue),
  },
);
const lifetime: Shape = (value, pointer, complain) => {
  const has = (key: string): boolean => isPlain(value) && Object.hasOwn(value, key);
  const shape = has('seconds')
    ? object({ seconds: whole(10, 31_536_000) })
    : object(
        { path },
        has('until')
          ? { until: word('rfc3339', 'seconds', 'milliseconds') }
          : { unit: word('seconds', 'minutes', 'milliseconds') },
      );
  shape(value, pointer, complain);
};
const cookies: Shape = (value, pointer, complain) =>
  (typeof value === 'string' ? word('all') : map(credential))(value, pointer, complain);

const stepKind = word('text', 'hash', 'hmac', 'rsa', 'zscaler_key');
const hash = word('md5', 'sha1', 'sha256', 'sha384', 'sha512');
const encoding = word('hex', 'base64');
const step = { kind: stepKind, name: placeholder, of: lines };
const encoded = { of_encoding: word('hex', 'base64') };
const steps = kinds({
  text: object(step, encoded),
  hash: object({ ...step, algorithm: hash, encoding }, { ...encoded, first_bytes: whole(1, 1_048_576), empty: yes }),
  hmac: object(
    { ...step, algorithm: hash, key: credential, encoding },
    { ...encoded, key_encoding: word('text', 'base64', 'hex') },
  ),
  rsa: object({ ...step, algorithm: word('sha1', 'sha256', 'sha512'), key: secret, encoding: word('base64') }, encoded),
  zscaler_key: object({ ...step, key: secret }),
});

const kind = text(/^/, 'a text');
const single: Readonly<Record<string, Shape>> = {
  none: object({ kind }),
  bearer: object({ kind, secret }),
  header: object({ kind, name, secret }, { prefix: line }),
  query: object({ kind, name, secret }),
  basic: object({ kind, user: credential }, { password: credential }),
  fields: object({ kind }, { ...carried, body: map(credential), optional: yes }),
  digest: object({ kind, user: credential, password: credential }),
  client_credentials: object(
    { kind, token_url: tokenUrl, client_id: credential, client_secret: credential },
    { grant_type: line, ...tokenRequest },
  ),
  refresh_token: object(
    { kind, token_url: tokenUrl, client_id: credential, refresh_token: secret },
    { client_secret: credential, replacement: path, rotates: yes, ...tokenRequest },
  ),
  private_key_jwt: object(
    {
      kind,
      grant: word('jwt_bearer', 'client_assertion', 'custom'),
      token_url: tokenUrl,
      key: secret,
      key_format: keyFormat,
    },
    { scopes: list(line), parameters: map(template), parameter: name, body: word('form', 'json'), ...jwt, ...tokenUse },
  ),
  jwt: object(
    { kind, key: secret, key_format: keyFormat },
    { header: name, prefix: line, also: object({}, carried), ...jwt },
  ),
  github_app: object({ kind, app_id: field, key: secret, installation_id: field }, { api_url: tokenUrl }),
  login: object(
    { kind, requests: list(loginRequest), send: object({}, { ...carried, cookies, optional: yes }) },
    { steps: list(steps), refresh: loginRequest, lifetime, host, expired: list(whole(400, 599)) },
  ),
  duo_hmac: object({ kind, key: secret, secret }),
  signature: object({ kind, steps: list(steps) }, { signed: object({}, carried), ...carried }),
  oauth1: object(
    { kind, consumer_key: credential, consumer_secret: credential, token: credential, token_secret: credential },
    { algorithm: word('HMAC-SHA1', 'HMAC-SHA256'), realm: setting },
  ),
  aws_sigv4: awsSignature,
};

export const authenticationShape = kinds({
  ...single,
  choice: object({
    kind,
    field: setting,
    of: map(kinds(single)),
  }),
  first: object({ kind, of: list(kinds(single)) }),
});
