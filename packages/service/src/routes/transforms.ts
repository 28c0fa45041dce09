import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { parseTransform, referredSecrets } from '@connector-frame/engine';
import { References, referencesTo } from '../connectors/present-secret.js';
import { notFound } from '../api-error.js';
import { isCurrent, requireMatch, versionTag } from '../http/etag.js';
import { referrerOf } from '../connectors/referrer.js';
import { organizationRoute, type ResponseData, type Route } from '../http/route.js';
import { requireUnused } from '../pipelines/in-use.js';
import { invalidTransform } from '../pipelines/invalid-pipeline.js';
import { PipelineUse, presentUse } from '../pipelines/present-pipeline.js';
import { notifyEngine } from '../pipelines/notify-engine.js';
import { TransformConfig } from '../pipelines/transform-config-body.js';
import { holdSecrets, referredValues } from '../pipelines/transform-secrets.js';
import type { OrganizationSecret, ReadTables, Transform } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Name, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

const Description = z.string().max(2_000);

const operations = [
  { operation: 'rename_key', arguments: { key: 'actor.email', new_key: 'user' } },
  { operation: 'drop_key', arguments: { key: 'raw' } },
];

const CreateTransform = z
  .object({ name: Name, description: Description.default(''), config: TransformConfig })
  .openapi('CreateTransform', { example: { name: 'Users only', config: { operations } } });

const ChangeTransform = z
  .object({ name: Name.optional(), description: Description.optional(), config: TransformConfig.optional() })
  .openapi('ChangeTransform', { example: { config: { operations } } });

const Timestamp = z.iso.datetime();

const TransformBody = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    name: z.string(),
    description: z.string(),
    config: TransformConfig,
    references: References,
    managed_by: z.literal('customer'),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.int(),
  })
  .openapi('Transform');

const TransformInUse = TransformBody.extend({
  component_of: z.array(PipelineUse).openapi({ description: 'The pipelines that use it.' }),
}).openapi('TransformInUse');
const TransformList = z.object({ transforms: z.array(TransformBody), pagination: Pagination }).openapi('TransformList');

const WRONG_SECRET = 'The request is malformed, or a secret may not be used by transforms (`secret_not_allowed`).';
const WRONG_TRANSFORM = 'An operation or a condition is not valid (`invalid_transform`, with `issues`).';

const tag = 'Transforms';
/** The same routes under both addresses; only the status of a creation differs. */
const addresses = [
  { path: '/v2/{org}/transforms', name: '', created: 201 },
  { path: '/v1/{org}/transforms', name: 'V1', created: 200 },
] as const;
const read = { permission: 'transform:read', session: 'deny' } as const;
const write = { permission: 'transform:write', session: 'deny' } as const;

/** Routes for the transforms that pipelines apply to records. */
export function transformRoutes(context: RouteContext): Route[] {
  const { store, clock } = context;
  return addresses.flatMap(({ path, name, created }) => [
    organizationRoute(
      {
        method: 'get',
        path,
        tag,
        operation: `list${name}Transforms`,
        summary: 'List the transforms of an organization',
        description: 'With their operations, as they were given.',
        access: read,
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: TransformList,
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.transforms.list(organization.id, query);
        const secrets = await secretsOf(rows, store);
        const shown = rows.map((row) => present(row, secrets));
        return { status: 200, body: { transforms: shown, pagination: { ...query, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path,
        tag,
        operation: `create${name}Transform`,
        summary: 'Create a transform',
        description:
          '`config` is checked, then stored as given. A node of a pipeline refers to the transform by its `id`.',
        access: write,
        params: Org,
        body: CreateTransform,
        idempotent: true,
        response: { status: created, description: 'The transform.', schema: TransformBody },
        etag: true,
        errorStatuses: { 400: WRONG_SECRET, 422: WRONG_TRANSFORM },
      },
      async ({ principal, organization, body, commit }) => {
        const referrer = await referrerOf(context, principal, organization.id);
        await checkConfig(body.config, await referredValues(body.config, store, referrer));
        const now = new Date(clock.now());
        const transform: Transform = {
          id: randomUUID(),
          organizationId: organization.id,
          name: body.name,
          description: body.description,
          config: body.config,
          version: 1,
          createdAt: now,
          updatedAt: now,
        };
        return commit(async (tables) => {
          await holdSecrets(transform.config, tables, referrer, now);
          await tables.transforms.insert(transform);
          return { ...(await saved(transform, tables)), status: created };
        });
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/{id}`,
        tag,
        operation: `read${name}Transform`,
        summary: 'Read a transform',
        description: '`component_of` lists the pipelines that use it. Send the ETag as `If-Match` with a change.',
        access: read,
        params: OrgAndId,
        etag: true,
        response: { status: 200, description: 'The transform.', schema: TransformInUse },
      },
      async ({ c, organization, params }) => {
        const transform = await store.transforms.get(organization.id, params.id);
        if (!transform) throw notFound();
        const headers = { ETag: versionTag(transform.version) };
        if (isCurrent(c.req.header('if-none-match'), headers.ETag)) return { status: 304, headers };
        const uses = await store.pipelines.using(organization.id, transform.id);
        const shown = present(transform, await secretsOf([transform], store));
        return { status: 200, body: { ...shown, component_of: uses.map(presentUse) }, headers };
      },
    ),

    organizationRoute(
      {
        method: 'patch',
        path: `${path}/{id}`,
        tag,
        operation: `change${name}Transform`,
        summary: 'Update a transform in all pipelines that use it; absent properties are kept',
        description: '`config` replaces the whole configuration. Pipelines that run continue with the new one.',
        access: write,
        params: OrgAndId,
        body: ChangeTransform,
        idempotent: true,
        conditional: true,
        response: { status: 200, description: 'The updated transform.', schema: TransformBody },
        etag: true,
        errorStatuses: { 400: WRONG_SECRET, 422: WRONG_TRANSFORM },
      },
      async ({ c, principal, organization, params, body, commit }) => {
        const referrer = await referrerOf(context, principal, organization.id);
        // Parse before taking the lock: trying a jq program takes a while.
        if (body.config) await checkConfig(body.config, await referredValues(body.config, store, referrer));
        const response = await commit(async (tables) => {
          const before = await tables.transforms.lock(organization.id, params.id);
          if (!before) throw notFound();
          requireMatch(c.req.header('if-match'), versionTag(before.version));
          const after: Transform = {
            ...before,
            name: body.name ?? before.name,
            description: body.description ?? before.description,
            config: body.config ?? before.config,
            version: before.version + 1,
            updatedAt: new Date(clock.now()),
          };
          if (body.config) await holdSecrets(body.config, tables, referrer, after.updatedAt);
          await tables.transforms.update(after);
          return saved(after, tables);
        });
        await notifyEngine(context, params.id);
        return response;
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `${path}/{id}`,
        tag,
        operation: `delete${name}Transform`,
        summary: 'Delete a transform',
        description: 'Remove its nodes from all pipelines first.',
        access: { permission: 'transform:delete', session: 'deny' },
        params: OrgAndId,
        conditional: true,
        response: { status: 200, description: 'The deleted resource.', schema: TransformBody },
        errorStatuses: { 409: 'Pipelines still use it; `additional_details` names them.' },
      },
      ({ c, organization, params, commit }) =>
        commit(async (tables) => {
          const transform = await tables.transforms.lock(organization.id, params.id);
          if (!transform) throw notFound();
          requireMatch(c.req.header('if-match'), versionTag(transform.version));
          // The row lock keeps other transactions from adding it to a pipeline.
          requireUnused('transform', await tables.pipelines.using(organization.id, transform.id));
          await tables.transforms.remove(transform.id);
          return { status: 200, body: present(transform, await secretsOf([transform], tables)) };
        }),
    ),
  ]);
}

type ResolveSecret = (id: string) => string | undefined;

/**
 * Validates the configuration of a transform.
 * @throws ApiError 422
 */
async function checkConfig(config: z.output<typeof TransformConfig>, resolveSecret: ResolveSecret): Promise<void> {
  const parsed = await parseTransform(config, { resolveSecret });
  if (parsed.ok) return;
  throw invalidTransform(parsed.problems.map((problem) => ({ ...problem, path: `/config${problem.path}` })));
}

/** Returns the secrets that transforms of one organization refer to. */
async function secretsOf(transforms: readonly Transform[], tables: ReadTables): Promise<OrganizationSecret[]> {
  const ids = transforms.flatMap(({ config }) => referredSecrets(config));
  return tables.organizationSecrets.some(transforms[0]?.organizationId ?? '', [...new Set(ids)]);
}

const present = (transform: Transform, secrets: readonly OrganizationSecret[]) => ({
  id: transform.id,
  organization_id: transform.organizationId,
  name: transform.name,
  description: transform.description,
  config: transform.config,
  references: referencesTo(
    secrets.filter(({ id }) => referredSecrets(transform.config).includes(id)),
    transform.organizationId,
  ),
  managed_by: 'customer',
  created_at: transform.createdAt.toISOString(),
  updated_at: transform.updatedAt.toISOString(),
  version: transform.version,
});

const saved = async (transform: Transform, tables: ReadTables): Promise<ResponseData> => ({
  status: 200,
  body: present(transform, await secretsOf([transform], tables)),
  headers: { ETag: versionTag(transform.version) },
});
