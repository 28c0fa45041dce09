import { z } from '@hono/zod-openapi';
import { notFound } from '../api-error.js';
import { runtimeConfig } from '../connectors/runtime-config.js';
import { organizationRoute, type Route } from '../http/route.js';
import type { StoredValue } from '../store/key-values.js';
import type { Connector } from '../store/store.js';
import { bytesOf, JsonBytes } from './any-record.js';
import type { RouteContext } from './context.js';
import { Id, integer, Org } from './schemas.js';

/** `type_id` of the outputs that have tables. */
const TYPE = 'kv-lookup';
const MAX_SAMPLE = 100;

const OutputQuery = z.object({ component_id: Id.openapi({ description: 'ID of a KV lookup output.' }) });
const Metadata = z
  .object({
    number_of_keys: z.int(),
    bytes: z.int().openapi({ description: 'Size of the keys and values in UTF-8.' }),
    max_bytes: z.int(),
    max_keys: z.int(),
    last_ingested_time: z.iso
      .datetime()
      .optional()
      .openapi({ description: 'RFC 3339. Absent before the first write.' }),
    ttl: z.int().openapi({ description: 'Hours that new keys are kept; 0: forever.' }),
  })
  .openapi('KeyValueMetadata');
const Entry = z
  .object({
    value: JsonBytes,
    value_json: z.unknown().openapi({ description: 'The value.' }),
    last_updated_at: z.iso.datetime().openapi({ description: 'RFC 3339.' }),
  })
  .openapi('KeyValueEntry');

const tag = 'Enrichments';
const path = '/v3/{org}/kv_lookup';

/** Routes that read the tables of KV lookup outputs. */
export function keyValueRoutes({ store, catalog, clock, keyValueLimits }: RouteContext): Route[] {
  const now = () => new Date(clock.now());
  const data = { permission: ['output:read', 'pipeline:data:read'], session: 'deny' } as const;

  /** @throws ApiError 404 */
  async function output(organizationId: string, id: string): Promise<Connector> {
    const found = await store.connectors.get(organizationId, 'output', id);
    if (found?.type !== TYPE) throw notFound();
    return found;
  }

  return [
    organizationRoute(
      {
        method: 'get',
        path: `${path}/metadata`,
        tag,
        operation: 'readKeyValueMetadata',
        summary: 'Read the size of the table of a KV lookup output',
        description: 'A table that reaches `max_bytes` or `max_keys` throttles its output until keys expire.',
        access: { permission: 'output:read', session: 'deny' },
        params: Org,
        query: OutputQuery,
        response: { status: 200, description: 'What the table has, without expired keys.', schema: Metadata },
        errorStatuses: [404],
      },
      async ({ organization, query }) => {
        const connector = await output(organization.id, query.component_id);
        const { keys, bytes, writtenAt } = await store.keyValues.size(organization.id, connector.id, now());
        const type = catalog.get('output', TYPE);
        const ttl: unknown = type && runtimeConfig(type, connector.settings, {}).settings['ttl'];
        return {
          status: 200,
          body: {
            number_of_keys: keys,
            bytes,
            max_bytes: keyValueLimits.maxBytes,
            max_keys: keyValueLimits.maxKeys,
            ...(writtenAt && { last_ingested_time: writtenAt.toISOString() }),
            ttl: typeof ttl === 'number' ? ttl : 0,
          },
        };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/sample`,
        tag,
        operation: 'sampleKeyValues',
        summary: 'Read some entries of the table of a KV lookup output',
        description:
          'Which ones does not change between calls while they are in the table. Keys are not stored, only their digests.',
        access: data,
        params: Org,
        query: OutputQuery.extend({
          num_entries: integer({ min: 1, max: MAX_SAMPLE, fallback: 10, description: 'Maximum number of entries.' }),
        }),
        response: { status: 200, description: 'The entries, in no particular order.', schema: z.array(Entry) },
        errorStatuses: [404],
      },
      async ({ organization, query }) => {
        const { id } = await output(organization.id, query.component_id);
        const entries = await store.keyValues.sample(organization.id, id, query.num_entries, now());
        return { status: 200, body: `[${entries.map(entryText).join(',')}]` };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/value`,
        tag,
        operation: 'readKeyValue',
        summary: 'Read the entry of a key in the table of a KV lookup output',
        description:
          'What an enrichment with this output finds for the key. Responds with 404 if the key is absent or expired.',
        access: data,
        params: Org,
        query: OutputQuery.extend({
          key: z.string().min(1).max(4_000).openapi({ description: 'The key, as text.', example: 'u-1' }),
        }),
        response: { status: 200, description: 'The entry.', schema: Entry },
        errorStatuses: [404],
      },
      async ({ organization, query }) => {
        const { id } = await output(organization.id, query.component_id);
        const entry = (await store.keyValues.get(organization.id, id, [query.key], now())).get(query.key);
        if (!entry) throw notFound();
        return { status: 200, body: entryText(entry) };
      },
    ),
  ];
}

/** Formats an entry. The digits of numbers stay as they were written. */
const entryText = ({ value, updatedAt }: StoredValue): string =>
  `{"value":${JSON.stringify(bytesOf(value))},"value_json":${value},"last_updated_at":${JSON.stringify(updatedAt.toISOString())}}`;
