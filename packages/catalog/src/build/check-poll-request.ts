/** Consistency of a single request: its body fits its method, and page tokens have a place in it. */
import type { PollPagination, PollRecordList, PollRequest } from '../types.js';
import { joinPointer } from '../validate/pointer.js';
import { oneOf } from './problem.js';

const BODIES = ['body', 'form', 'graphql'] as const;

export function checkRequest(
  request: PollRequest & { pagination?: PollPagination },
  add: (pointer: string, message: string) => void,
): void {
  const bodies = BODIES.filter((name) => request[name] !== undefined);
  if (bodies.length > 1) add('', `has more than one body: keep one of ${oneOf(bodies)}`);
  const { pagination } = request;
  if (pagination && 'json' in pagination && !pagination.parameter.startsWith('/'))
    add('/pagination/json', 'is for a parameter in the body, like "/search_after"');
  if (pagination?.kind === 'body_headers') {
    const names = Object.keys(pagination.headers);
    if (names.length === 0) add('/pagination/headers', 'names no header');
    for (const each of names)
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(each))
        add(joinPointer('/pagination/headers', each), 'is no header name');
  }
  const parameter = pagination && 'parameter' in pagination ? pagination.parameter : undefined;
  if (parameter?.startsWith('/') && bodies.length === 0)
    add('/pagination/parameter', 'points into the body, but the request has none: add "body", "form" or "graphql"');
  const end = pagination?.kind === 'offset' ? pagination.end : undefined;
  if (end !== undefined && parameter !== undefined && end.startsWith('/') !== parameter.startsWith('/'))
    add('/pagination/end', 'must be in the same place as "parameter": the query, or the body');
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

const wildcards = (path: string): number => path.split('/').filter((key) => key === '*').length;

/** Checks that what is said about records fits their shape and the format of the response. */
export function checkRecords(
  {
    records,
    format = 'json',
    csv,
    page_line: pageLine,
  }: Pick<PollRequest, 'format' | 'csv' | 'page_line'> & { records: PollRecordList },
  add: (pointer: string, message: string) => void,
): void {
  const paths = [records.path].flat();
  const { shape = 'list', columns, key } = records;
  if (csv && format !== 'csv') add('/csv', 'is for the format "csv"');
  if (shape === 'rows' && columns === undefined) add('/records', 'needs "columns": the names of the cells in a row');
  if (shape !== 'rows' && columns !== undefined) add('/records/columns', 'is for the shape "rows"');
  if (key !== undefined && shape !== 'map' && !paths.every((path) => wildcards(path) > 0))
    add('/records/key', 'has no key to keep: use the shape "map", or "*" in "path"');
  for (const [name, path] of Object.entries(records.add ?? {}))
    if (path.startsWith('/') && paths.some((each) => wildcards(each) < wildcards(path)))
      add(`/records/add/${name}`, 'has more "*" than "path" has');
  if (pageLine !== undefined) {
    if (format !== 'ndjson') add('/page_line', 'is for the format "ndjson"');
    else if (paths.some((path) => !path.startsWith('/records')))
      add('/records/path', 'must be "/records": the line that describes the page is "/page"');
  } else if (['ndjson', 'csv', 'lines'].includes(format) && paths.some((path) => path !== '' && !path.startsWith('/*')))
    add('/records/path', `must be "" or begin with "/*": a response in ${format} is a list`);
}
