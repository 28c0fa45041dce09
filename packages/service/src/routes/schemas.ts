import { z } from '@hono/zod-openapi';
import { CONNECTOR_KINDS } from '@connector-frame/catalog';
import { isPageOrigin } from '../embed/origin.js';

export const Id = z.string().regex(/^[\w-]{1,64}$/);
export const TypeId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/);
export const Kind = z.enum(CONNECTOR_KINDS);

/** Path parameters. */
const OrganizationId = Id.openapi({
  description: 'ID of the organization. `GET /v3/api-keys/current` returns that of an API key.',
});
export const Org = z.object({ org: OrganizationId });
export const OrgAndId = z.object({ org: OrganizationId, id: Id });
export const ParentOrg = z.object({ parent_org: Id.openapi({ description: 'ID of the parent organization.' }) });

/** An integer in a query. Stated in full for the document, which would also allow null. */
export const integer = ({
  min,
  max,
  fallback,
  description,
}: {
  min: number;
  max: number;
  fallback: number;
  description: string;
}) =>
  z
    .string()
    .regex(/^-?\d{1,12}$/, 'Must be an integer.')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .default(fallback)
    .openapi({ type: 'integer', minimum: min, maximum: max, default: fallback, description });

export const PageQuery = z.object({
  limit: integer({ min: 1, max: 1_000, fallback: 10, description: 'Maximum number of rows.' }),
  offset: integer({ min: 0, max: 1_000_000_000, fallback: 0, description: 'Number of rows to skip.' }),
});

/** The default of lists of enrichments in the public API. */
export const LongPageQuery = PageQuery.extend({
  limit: integer({ min: 1, max: 1_000, fallback: 100, description: 'Maximum number of rows.' }),
});

/** From 1970 to 9999: PostgreSQL does not read every date that JavaScript writes. */
export const Instant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((time) => time.getTime() >= 0 && time.getTime() < Date.UTC(10_000, 0), 'Must be between 1970 and 9999.');

/** An organization, where only its name is shown. */
export const NamedOrganization = z.object({ id: z.string(), name: z.string() }).openapi('NamedOrganization');

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as `5m`, in milliseconds. */
export const Duration = z
  .string()
  .regex(/^\d{1,6}[smhd]$/, 'Must be a number with a unit: 30s, 5m, 1h or 7d.')
  .transform((text) => Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? 0));

/** A window of time in a query. */
export const WindowQuery = z.object({
  start: Instant.optional().openapi({
    type: 'string',
    format: 'date-time',
    description: 'Start of the window. RFC 3339.',
  }),
  end: Instant.optional().openapi({
    type: 'string',
    format: 'date-time',
    description: 'End of the window. RFC 3339. Default: now.',
  }),
});

export const Pagination = z
  .object({ limit: z.int(), offset: z.int(), total: z.int().openapi({ description: 'Number of rows on all pages.' }) })
  .openapi('Pagination');

/** Who created an API key. */
export const KeyCreatorBody = z
  .object({
    type: z.enum(['api_key', 'user', 'service']).openapi({ description: '`service`: the operator, by `bootstrap`.' }),
    id: z.string(),
    name: z.string().openapi({ description: 'The name at that time.' }),
  })
  .openapi('KeyCreator');

export const Name = z.string().trim().min(1).max(200);

export const Origin = z
  .string()
  .refine(isPageOrigin, 'Must be an origin: https://app.example, or http on localhost.')
  .openapi({ description: 'Origin of a page: scheme, host and port only.', example: 'https://app.example' });
