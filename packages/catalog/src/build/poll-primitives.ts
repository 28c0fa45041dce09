/** Values that occur throughout a `poll` definition. */
import { text } from './shape.js';

export const template = text(/^[^\r\n]+$/, 'a text in one line');
export const path = text(/^(?:\/[^/]+)*$/, 'a pointer into the response, like "/data/items", or "" for all of it');
/** A path, or the setting that contains it. */
export const givenPath = text(
  /^(?:(?:\/[^/{}]+)*|\{\{\/settings\/[^{}]+\}\})$/,
  'a pointer into the response, like "/data/items", or "{{/settings/...}}"',
);
export const setting = text(/^\/settings\/[^/]+(?:\/[^/]+)*$/, 'the pointer of a setting, "/settings/..."');
export const secret = text(/^\/secrets\/[^/]+$/, 'the pointer of a secret, "/secrets/..."');
export const field = text(/^\/(?:settings|secrets)\/[^/]+(?:\/[^/]+)*$/, 'the pointer of a field');
export const name = text(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'a name without spaces');
export const line = text(/^[\x20-\x7e]*$/, 'plain text in one line');
/** A query parameter, or a pointer into the body. */
export const parameter = text(
  /^(?:[!#$%&'*+.^_`|~0-9A-Za-z[\]-]+|(?:\/[^/]+)+)$/,
  'the name of a query parameter, or a pointer into the body, like "/page/cursor"',
);
