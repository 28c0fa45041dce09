import { readFileSync } from 'node:fs';
import { z, type OpenAPIHono } from '@hono/zod-openapi';
import { errorTypes } from '../api-error.js';
import { neededPermissions, type Route } from './route.js';

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

type PathConfig = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0];

/** Body of every error response. */
export const ErrorBody = z
  .object({
    error: z.string().openapi({ description: 'Human-readable message. It may change between releases.' }),
    error_type: z.enum(errorTypes).openapi({ description: 'Stable error code.' }),
    code: z.int().openapi({ description: 'The HTTP status.' }),
    additional_details: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('Error');

const errorDescriptions: Record<number, string> = {
  400: 'The request is malformed, or the connection test failed.',
  401: 'The credential is missing or not valid.',
  403: 'The credential does not permit this operation.',
  404: 'Not found, or it belongs to another organization.',
  409: 'The resource is in use, or a request with the same Idempotency-Key is still running.',
  412: 'The resource has changed: If-Match does not match its ETag.',
  413: 'The body is larger than 256 KiB.',
  415: 'The body is not JSON, or it has a Content-Encoding.',
  422: 'The configuration or the pipeline is not valid, a secret must be entered again, or the Idempotency-Key was used for another request.',
  429: 'Too many requests; retry after the number of seconds in Retry-After.',
  503: 'The service is not ready, or the database does not respond; retry after the number of seconds in Retry-After.',
};

/** Describes a route for the OpenAPI document, with the same schemas that validate its requests. */
export function describeRoute(route: Route): PathConfig {
  const { spec, organizationParam } = route;
  const { access } = spec;
  const isPublic = 'public' in access;
  const errorStatuses = new Set(spec.errorStatuses);
  // 400: for an unknown query parameter, at least.
  if (!isPublic) for (const status of [400, 401, 403, 429, 503]) errorStatuses.add(status);
  if (organizationParam ?? spec.params) errorStatuses.add(404);
  if (spec.query ?? spec.body) errorStatuses.add(400);
  if (spec.body) for (const status of [413, 415]) errorStatuses.add(status);
  if (spec.idempotent) for (const status of [409, 422]) errorStatuses.add(status);
  if (spec.conditional) errorStatuses.add(412);

  const { status, description, schema, contentType = 'application/json' } = spec.response;
  const headers = requestHeaders(spec.idempotent, spec.conditional);
  return {
    method: spec.method,
    path: spec.path,
    operationId: spec.operation,
    tags: [spec.tag],
    summary: spec.summary,
    ...(spec.description ? { description: spec.description } : {}),
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
    ...(!isPublic && access.operator ? { 'x-operator': true } : {}),
    request: {
      ...(spec.params instanceof z.ZodObject ? { params: spec.params } : {}),
      ...(spec.query instanceof z.ZodObject ? { query: spec.query } : {}),
      ...(headers ? { headers } : {}),
      ...(spec.body
        ? { body: { required: true, content: { [spec.bodyType ?? 'application/json']: { schema: spec.body } } } }
        : {}),
    },
    responses: {
      [status]: { description, ...(schema ? { content: { [contentType]: { schema } } } : {}) },
      ...(spec.redirect ? { [spec.redirect]: { description: 'Continues at `Location`.' } } : {}),
      ...Object.fromEntries(
        [...errorStatuses]
          .sort((a, b) => a - b)
          .map((code) => [
            code,
            {
              description: errorDescriptions[code] ?? 'Rejected.',
              content: route.renderError
                ? { 'text/html': { schema: z.string() } }
                : { 'application/json': { schema: ErrorBody } },
            },
          ]),
      ),
    },
  };
}

function requestHeaders(idempotent?: boolean, conditional?: boolean) {
  if (!idempotent && !conditional) return undefined;
  return z.object({
    ...(idempotent
      ? {
          'Idempotency-Key': z.string().min(1).max(255).optional().openapi({
            description:
              'Unique per operation. For 24 hours, a repeated request with the same key and body returns the stored response.',
          }),
        }
      : {}),
    ...(conditional
      ? {
          'If-Match': z.string().optional().openapi({
            description: 'ETag of the last read. Returns 412 if the resource has changed since.',
          }),
        }
      : {}),
  });
}

/** Returns the OpenAPI document for all routes mounted on `app`, as JSON. */
export function openApiDocument(app: OpenAPIHono, publicUrl: string): string {
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'authorization', {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: '`ApiKey <key>`',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'user', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Access token of a signed-in user.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Session token of a frame. `x-session` of each operation says whether it is accepted.',
  });
  return JSON.stringify(
    app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: {
        title: 'Connector Frame',
        version,
        description: 'Manages connectors and pipelines, and creates sessions for frames.',
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      },
      servers: [{ url: publicUrl }, { url: `${publicUrl}/api`, description: 'The same routes.' }],
    }),
  );
}
