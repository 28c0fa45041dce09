import { z } from '@hono/zod-openapi';
import { invalidRequest } from '../api-error.js';

/**
 * Fields of responses that a request body may contain, so that a resource can be sent back as it was
 * read. They are ignored.
 */
export const READ_ONLY_FIELDS: readonly string[] = [
  'billing_account_id',
  'component_of',
  'createdAt',
  'created_at',
  'cron_schedule',
  'hint',
  'id',
  'input_id',
  'kind',
  'last_used_at',
  'managed_by',
  'next_cron_run_at',
  'organizationId',
  'organizationName',
  'organization_id',
  'output_ids',
  'parent_id',
  'parent_organization_id',
  'references',
  'revoked_at',
  'share_details',
  'status',
  'updatedAt',
  'updated_at',
  'version',
];

/**
 * Rejects what a route does not know, because it would have no effect.
 * @param part name of the part for the message: `query` or `body`
 * @param schema absent: the route takes nothing in this part
 * @throws ApiError 400 that names the unknown fields
 */
export function requireKnown(part: 'query' | 'body', schema: z.ZodType | undefined, value: unknown): void {
  if (typeof value !== 'object' || value === null || (schema !== undefined && !(schema instanceof z.ZodObject))) return;
  const shape: Readonly<Record<string, unknown>> = schema?.shape ?? {};
  const unknown = Object.keys(value).filter(
    (name) => !Object.hasOwn(shape, name) && !(part === 'body' && READ_ONLY_FIELDS.includes(name)),
  );
  if (unknown.length === 0) return;
  const issues = unknown.slice(0, 20).map((name) => ({ path: `/${name}`, message: 'Unknown.' }));
  throw invalidRequest(`The ${part} of this request contains what this route does not know.`, { issues });
}
