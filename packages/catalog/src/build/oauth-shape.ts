/** Shape of `providers/*.json` and of `oauth` in a type file: see `src/oauth.ts`. */
import { kindsBy, list, map, object, text, word, no, yes, type Shape } from './shape.js';

const line = text(/^[\x20-\x7e]+$/, 'plain text in one line');
const path = text(/^(?:\/[^/]+)+$/, 'a pointer into the response, like "/access_token"');
const url = text(
  /^(?:https:\/\/[^\s/?#]+|\{\{\/settings\/\w+\}\})\/[^\s?#]*$/,
  'an address with https:// and a path, in which "{{/settings/...}}" may be part of the host or the path, or all before the path',
);
const fixed = text(/^https:\/\/[^\s/?#{}]+\/[^\s?#{}]+$/, 'an address with https:// and a path');

const optional: Readonly<Record<string, Shape>> = {
  refresh_url: url,
  suffixes: list(text(/^\.[a-z0-9.-]+\.[a-z]+$/, 'the end of a host name, like ".acme.com"')),
  issuer: text(/^https:\/\/[^\s?#]+$/, 'the issuer, with https://'),
  body: word('form', 'json'),
  pkce: no,
  parameters: map(line),
  scope_parameter: text(/^[a-z_]+$/, 'the name of a parameter'),
  scope_separator: word(',', ' '),
  repeat_scopes: yes,
  response: object({}, { access_token: path, refresh_token: path, expires_in: path }),
  account: kindsBy('from', {
    token: object({ from: line, path }),
    id_token: object({ from: line, path }),
    url: object({ from: line, url, path }),
  }),
  ended: list(line),
};
const needed: Readonly<Record<string, Shape>> = {
  authorization_url: url,
  token_url: url,
  client: word('basic', 'body'),
};

/** A file in `providers`. */
export const providerShape = object(
  { name: line, documentation: list(text(/^https:\/\/\S+$/, 'the address of a page, with https://')), ...needed },
  optional,
);

/** `oauth` in a type file. */
export const oauthShape = object(
  {
    provider: text(/^[a-z][a-z0-9-]*$/, 'the name of a file in providers, without .json'),
    secret: text(/^\/secrets\/[^/]+$/, 'the pointer of a secret, "/secrets/..."'),
    scopes: (value, pointer, complain) => {
      if (!Array.isArray(value)) complain(pointer, 'must be a list, empty if the vendor has no scopes');
      else value.forEach((scope, index) => line(scope, `${pointer}/${String(index)}`, complain));
    },
  },
  {
    when: list(
      object(
        {
          path: text(/^\/settings\/[^/]+(?:\/[^/]+)*$/, 'the pointer of a setting, "/settings/..."'),
          in: list(text(/\S/, 'a text')),
        },
        { or_absent: yes },
      ),
    ),
    needs_client: yes,
    site: object({
      list_url: fixed,
      match: path,
      address: text(/^https:\/\/\{\{\/settings\/\w+\}\}$/, '"https://" and the setting with the host of the site'),
      id: path,
      base_url: text(
        /^https:\/\/[^\s/?#{}]+\/(?:[^\s?#{}]+\/)?\{\{site\}\}$/,
        'an address with https:// that ends with "{{site}}"',
      ),
    }),
    ...needed,
    ...optional,
  },
);
