import type {
  ConnectorConfig,
  PollDefinition,
  PollField,
  PollPagination,
  PollPath,
  PollRecordList,
  PollRequest,
} from '@connector-frame/catalog/types';
import { getAt, joinPointer } from '@connector-frame/catalog/validate';

/** A setting in place of a path or a query. */
const GIVEN = /^\{\{(\/settings\/[^{}]+)\}\}$/;

/** Returns the setting that contains a path or a query, if one does. */
export const givenField = (text: string): PollField | undefined => GIVEN.exec(text)?.[1];

/** Replaces the settings that contain paths in responses by these paths. */
export function withGivenPaths(poll: PollDefinition, config: ConnectorConfig): PollDefinition {
  return {
    ...poll,
    streams: poll.streams.map((stream) => ({
      ...stream,
      records: withRecordPath(stream.records, config),
      pagination: withPagePaths(stream.pagination, stream, config),
    })),
    check: { ...poll.check, records: withRecordPath(poll.check.records, config) },
  };
}

/** Without a path, the whole response is the record. */
function withRecordPath<T extends PollRecordList>(records: T, config: ConnectorConfig): T {
  const { path } = records;
  return typeof path === 'string' ? { ...records, path: pointerOf(path, config) ?? '' } : records;
}

/** Without a path of the token, there is only one page. */
function withPagePaths(pagination: PollPagination, request: PollRequest, config: ConnectorConfig): PollPagination {
  if (pagination.kind !== 'body_cursor') return pagination;
  const { more: flag, ...rest } = pagination;
  const path = pointerOf(pagination.path, config);
  if (path === undefined) return { kind: 'none' };
  const more = flag === undefined ? undefined : pointerOf(flag, config);
  const parameter = cursorVariable(pagination.parameter, request, config);
  return { ...rest, path, parameter, ...(more !== undefined && { more }) };
}

/**
 * Returns the variable of a customer's query that takes the cursor: the one that it passes as the argument
 * which `parameter` is named after.
 */
function cursorVariable(parameter: string, { graphql }: PollRequest, config: ConnectorConfig): string {
  const field = graphql && givenField(graphql.query);
  const [, argument = ''] = /^\/variables\/(\w+)$/.exec(parameter) ?? [];
  if (field === undefined || argument === '') return parameter;
  const name = new RegExp(String.raw`\b${argument}\s*:\s*\$(\w+)`).exec(textOf(field, config))?.[1];
  return name === undefined ? parameter : `/variables/${name}`;
}

/** Returns the pointer of a path with dots between keys, `undefined` if the setting is empty. */
function pointerOf(path: PollPath, config: ConnectorConfig): PollPath | undefined {
  const field = givenField(path);
  if (field === undefined) return path;
  const keys = textOf(field, config)
    .replace(/^\$\.?/, '')
    .replaceAll(/\[(\d+|\*)\]/g, '.$1')
    .split('.')
    .filter((key) => key !== '');
  return keys.length === 0 ? undefined : keys.reduce((pointer, key) => joinPointer(pointer, key), '');
}

function textOf(field: PollField, { settings }: ConnectorConfig): string {
  const value: unknown = getAt({ settings }, field);
  return typeof value === 'string' ? value.trim() : '';
}
