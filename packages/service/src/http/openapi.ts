import { readFileSync } from 'node:fs';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { registerComponents } from './openapi-components.js';
import { completeDocument, operationsOf } from './complete-document.js';
import { tags } from './openapi-tags.js';

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

const DESCRIPTION = `Manages connectors and pipelines, and creates sessions for frames.

**Authentication.** A backend sends an API key, a frame its session token. \`x-permissions\` of an operation lists the permissions that an API key needs, \`x-session\` says whether a session is accepted, and operations with \`x-public\` read no credential.

**Errors** have one shape: branch on \`error_type\`; \`error\` is for people and may change. A method that a path does not have is 405 with \`Allow\`.

**Requests.** Bodies are JSON in UTF-8 of at most 256 KiB. Unknown query parameters and fields are rejected, except for read-only fields of responses such as \`id\`, \`version\` and \`created_at\`, which are ignored: a resource can be sent back as it was read. A trailing slash is optional.

**Lists** take \`limit\` and \`offset\`, and return \`pagination\` with the \`total\`.

**Concurrent changes.** Send the \`ETag\` of the last read as \`If-Match\`: 412 means that the resource has changed since.

**Retries.** With an \`Idempotency-Key\`, a repeated request returns the stored response, with \`Idempotency-Replayed: true\`. After 409 \`idempotency_conflict\`, 429 and 503, wait for the number of seconds in \`Retry-After\`.

**Configurations.** \`config\` of a connector depends on its type: \`GET /v1/inputs/{type_id}\` and \`GET /v1/outputs/{type_id}\` return the JSON Schemas of \`settings\` and \`secrets\`.`;

/** Returns the OpenAPI document for all routes mounted on `app`, as JSON. */
export function openApiDocument(app: OpenAPIHono, publicUrl: string): string {
  registerComponents(app.openAPIRegistry);
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Connector Frame',
      version,
      description: DESCRIPTION,
      contact: { name: 'Connector Frame', url: 'https://github.com/connector-frame/connector-frame' },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: publicUrl }, { url: `${publicUrl}/api`, description: 'The same operations.' }],
  });
  // Only operations with a version are served under /api.
  for (const [path, operation] of operationsOf(document))
    if (!/^\/v\d/.test(path)) operation.servers = [{ url: publicUrl }];
  completeDocument(document);
  const used = new Set(operationsOf(document).flatMap(([, operation]) => operation.tags ?? []));
  document.tags = tags.filter(({ name }) => used.has(name));
  return JSON.stringify(document);
}
