import type { Context } from 'hono';
import { invalidRequest } from '../api-error.js';

/**
 * Returns the query of a request. Hono itself repairs what is not UTF-8, and drops the second value
 * of a parameter.
 * @throws ApiError 400 if it is not UTF-8, or contains a null character or a parameter twice
 */
export function readQuery(c: Context): Record<string, string> {
  const start = c.req.url.indexOf('?');
  if (start === -1) return {};
  try {
    decodeURIComponent(c.req.url.slice(start));
  } catch {
    throw invalidRequest('The query is not valid UTF-8. Encode it as percent-encoded UTF-8.');
  }
  const query = c.req.query();
  for (const [name, values] of Object.entries(c.req.queries())) {
    if (values.length > 1) throw invalidRequest(`The query contains ${quoted(name)} more than once. Send it once.`);
    // PostgreSQL can't store it.
    if (values[0]?.includes('\0')) throw invalidRequest(`The query contains a null character in ${quoted(name)}.`);
  }
  return query;
}

/** Names a parameter, which can be anything, in a message. */
const quoted = (name: string): string => JSON.stringify(name.slice(0, 100));
