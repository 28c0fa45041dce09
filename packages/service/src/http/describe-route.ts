import { z, type OpenAPIHono } from '@hono/zod-openapi';
import {
  commonHeaders,
  errorPage,
  errorResponse,
  headerRefs,
  requestHeaderRefs,
  type DocumentedError,
  type RequestHeader,
} from './openapi-components.js';
import { neededPermissions, type Route, type TextError } from './route.js';

type PathConfig = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0];
type Spec = Route['spec'];

/** Describes a route for the OpenAPI document, with the same schemas that validate its requests. */
export function describeRoute(route: Route): PathConfig {
  const { spec } = route;
  const { access } = spec;
  const isPublic = 'public' in access;
  const parameters = requestHeaderRefs(requestHeadersOf(spec));
  return {
    method: spec.method,
    path: spec.path,
    operationId: spec.operation,
    tags: [spec.tag],
    summary: spec.summary,
    description: spec.description,
    security: isPublic
      ? []
      : [
          { apiKey: [] },
          { authorization: [] },
          ...(access.operator ? [] : [{ user: [] }]),
          ...(access.session === 'allow' ? [{ session: [] }] : []),
        ],
    'x-session': isPublic ? 'allow' : access.session,
    ...(isPublic ? { 'x-public': true } : { 'x-permissions': neededPermissions(access) }),
    ...(!isPublic && access.operator && { 'x-operator': true }),
    ...(parameters.length > 0 && { parameters }),
    request: {
      ...(spec.params instanceof z.ZodObject ? { params: spec.params } : {}),
      ...(spec.query instanceof z.ZodObject ? { query: spec.query } : {}),
      ...(spec.body
        ? { body: { required: true, content: { [spec.bodyType ?? 'application/json']: bodyOf(spec) } } }
        : {}),
    },
    responses: { ...successes(route), ...failures(route) },
  };
}

function requestHeadersOf({ method, idempotent, conditional, etag, resumes }: Spec): RequestHeader[] {
  return [
    ...(idempotent ? (['IdempotencyKey'] as const) : []),
    ...(conditional ? (['IfMatch'] as const) : []),
    ...(etag && method === 'get' ? (['IfNoneMatch'] as const) : []),
    ...(resumes ? (['LastEventId'] as const) : []),
  ];
}

const bodyOf = ({ body, bodyExample }: Spec) => ({
  ...(body && { schema: body }),
  ...(bodyExample !== undefined && { example: bodyExample }),
});

function successes({ spec, renderError }: Route): PathConfig['responses'] {
  const { status, description, schema, contentType = 'application/json', example, headers: own = {} } = spec.response;
  const types = typeof contentType === 'string' ? [contentType] : contentType;
  const names = [
    ...('public' in spec.access
      ? contentType === 'application/json' || renderError
        ? ['Request-Id']
        : []
      : commonHeaders),
    ...(spec.etag ? ['ETag'] : []),
    ...(spec.idempotent ? ['Idempotency-Replayed'] : []),
  ];
  const headers = {
    ...headerRefs(names),
    ...Object.fromEntries(
      Object.entries(own).map(([name, text]) => [name, { description: text, schema: { type: 'string' as const } }]),
    ),
  };
  const media = { ...(schema && { schema }), ...(example !== undefined && { example }) };
  return {
    [status]: {
      description,
      headers,
      ...(schema && { content: Object.fromEntries(types.map((type) => [type, media])) }),
    },
    ...(spec.redirect && {
      [spec.redirect]: { description: 'Continues at `Location`.', headers: headerRefs(['Request-Id', 'Location']) },
    }),
    ...(spec.etag &&
      spec.method === 'get' && {
        304: { description: 'Not changed: the ETag is in `If-None-Match`.', headers },
      }),
  };
}

function failures({ spec, organizationParam, renderError, negotiatesErrors }: Route): PathConfig['responses'] {
  const errors = new Map<number, DocumentedError>();
  const imply = (...statuses: number[]) => statuses.forEach((status) => errors.set(status, { status, isOwn: false }));
  // 400: for an unknown query parameter, at least.
  if (!('public' in spec.access)) imply(400, 401, 403, 429, 500, 503);
  if (organizationParam ?? spec.params) imply(404);
  if (spec.body) imply(413, 415);
  if (spec.idempotent) imply(409, 422);
  if (spec.conditional) imply(412);
  const own = declaredErrors(spec);
  for (const [status, cause] of own)
    errors.set(status, { status, isOwn: true, ...(typeof cause === 'string' && { cause }) });
  const texts = new Map(own.filter((entry): entry is [number, TextError] => typeof entry[1] === 'object'));
  return Object.fromEntries(
    [...errors.values()].map((error) => {
      const text = texts.get(error.status);
      if (text) return [error.status, textError(text)];
      return [error.status, renderError ? errorPage(error, negotiatesErrors) : errorResponse(error, spec.idempotent)];
    }),
  );
}

function declaredErrors({ errorStatuses = [] }: Spec): [number, string | TextError | undefined][] {
  if (isList(errorStatuses)) return errorStatuses.map((status) => [status, undefined]);
  return Object.entries(errorStatuses).map(([status, cause]) => [Number(status), cause]);
}

const isList = (statuses: NonNullable<Spec['errorStatuses']>): statuses is readonly number[] => Array.isArray(statuses);

const textError = ({ description, text }: TextError) => ({
  description,
  content: { 'text/plain': { schema: { type: 'string' as const }, example: text } },
});
