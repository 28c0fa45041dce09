/** Consistency of a single request: its body fits its method, and page tokens have a place in it. */
import type { PollPagination, PollRequest } from '../types.js';
import { oneOf } from './problem.js';

const BODIES = ['body', 'form', 'graphql'] as const;

export function checkRequest(
  request: PollRequest & { pagination?: PollPagination },
  add: (pointer: string, message: string) => void,
): void {
  const bodies = BODIES.filter((name) => request[name] !== undefined);
  if (bodies.length > 1) add('', `has more than one body: keep one of ${oneOf(bodies)}`);
  if (bodies.length > 0 && request.method === 'GET') add('/method', 'has no body: use "POST", or "query"');
  const { pagination } = request;
  const parameter = pagination && 'parameter' in pagination ? pagination.parameter : undefined;
  if (parameter?.startsWith('/') && bodies.length === 0)
    add('/pagination/parameter', 'points into the body, but the request has none: add "body", "form" or "graphql"');
  if (parameter?.startsWith('/') && request.graphql && !parameter.startsWith('/variables/'))
    add('/pagination/parameter', 'must be a variable of the query: "/variables/..."');
}

/** Returns the parts of a request that contain templates. */
export const templatesOf = ({ path, query, body, form, graphql }: PollRequest): unknown => [
  path,
  query,
  body,
  form,
  graphql?.variables,
];
