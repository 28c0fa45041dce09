import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { parseTransform, type TransformConfig } from '@connector-frame/engine';
import { notFound } from '../api-error.js';
import { isCurrent, requireMatch, versionTag } from '../http/etag.js';
import { organizationRoute, type ResponseData, type Route } from '../http/route.js';
import { requireUnused } from '../pipelines/in-use.js';
import { invalidPipeline } from '../pipelines/invalid-pipeline.js';
import { notifyEngine } from '../pipelines/notify-engine.js';
import type { Transform } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Name, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

const Config = z.object({ operations: z.array(z.unknown()) }).openapi({
  description: 'Operations applied to each record, in order: `{ operation, arguments }`.',
});
const Description = z.string().max(2_000);

const operations = [
  { operation: 'rename_key', arguments: { key: 'actor.email', new_key: 'user' } },
  { operation: 'drop_key', arguments: { key: 'raw' } },
];

const CreateTransform = z
  .object({ name: Name, description: Description.default(''), config: Config })
  .openapi('CreateTransform', { example: { name: 'Users only', config: { operations } } });

const ChangeTransform = z
  .object({ name: Name.optional(), description: Description.optional(), config: Config.optional() })
  .openapi('ChangeTransform', { example: { config: { operations } } });

const Timestamp = z.iso.datetime();

const TransformBody = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    name: z.string(),
    description: z.string(),
    config: z.object({
      operations: z.array(z.object({ operation: z.string(), arguments: z.record(z.string(), z.unknown()) })),
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.int(),
  })
  .openapi('Transform');

const tag = 'Transforms';
const path = '/v2/{org}/transforms';
const read = { permission: 'read', session: 'deny' } as const;
const write = { permission: 'write', session: 'deny' } as const;

/** Routes for the transforms that pipelines apply to records. */
export function transformRoutes(context: RouteContext): Route[] {
  const { store, clock } = context;
  return [
    organizationRoute(
      {
        method: 'get',
        path,
        tag,
        operation: 'listTransforms',
        summary: 'List the transforms of an organization',
        access: read,
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: z.object({ transforms: z.array(TransformBody), pagination: Pagination }),
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.transforms.list(organization.id, query);
        return { status: 200, body: { transforms: rows.map(present), pagination: { ...query, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path,
        tag,
        operation: 'createTransform',
        summary: 'Create a transform',
        access: write,
        params: Org,
        body: CreateTransform,
        idempotent: true,
        response: { status: 201, description: 'The transform.', schema: TransformBody },
        errorStatuses: [422],
      },
      async ({ organization, body, commit }) => {
        const config = await readConfig(body.config);
        const now = new Date(clock.now());
        const transform: Transform = {
          id: randomUUID(),
          organizationId: organization.id,
          name: body.name,
          description: body.description,
          config,
          version: 1,
          createdAt: now,
          updatedAt: now,
        };
        return commit(async (tables) => {
          await tables.transforms.insert(transform);
          return { ...saved(transform), status: 201 };
        });
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/{id}`,
        tag,
        operation: 'readTransform',
        summary: 'Read a transform',
        access: read,
        params: OrgAndId,
        response: { status: 200, description: 'The transform.', schema: TransformBody },
      },
      async ({ c, organization, params }) => {
        const transform = await store.transforms.get(organization.id, params.id);
        if (!transform) throw notFound();
        const response = saved(transform);
        const unchanged = isCurrent(c.req.header('if-none-match'), versionTag(transform.version));
        return unchanged ? { status: 304, headers: { ETag: versionTag(transform.version) } } : response;
      },
    ),

    organizationRoute(
      {
        method: 'patch',
        path: `${path}/{id}`,
        tag,
        operation: 'changeTransform',
        summary: 'Update a transform in all pipelines that use it; absent properties are kept',
        access: write,
        params: OrgAndId,
        body: ChangeTransform,
        idempotent: true,
        conditional: true,
        response: { status: 200, description: 'The updated transform.', schema: TransformBody },
        errorStatuses: [422],
      },
      async ({ c, organization, params, body, commit }) => {
        // Parse before taking the lock: trying a jq program takes a while.
        const config = body.config && (await readConfig(body.config));
        const response = await commit(async (tables) => {
          const before = await tables.transforms.lock(organization.id, params.id);
          if (!before) throw notFound();
          requireMatch(c.req.header('if-match'), versionTag(before.version));
          const after: Transform = {
            ...before,
            name: body.name ?? before.name,
            description: body.description ?? before.description,
            config: config ?? before.config,
            version: before.version + 1,
            updatedAt: new Date(clock.now()),
          };
          await tables.transforms.update(after);
          return saved(after);
        });
        await notifyEngine(context, organization.id, params.id);
        return response;
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `${path}/{id}`,
        tag,
        operation: 'deleteTransform',
        summary: 'Delete a transform',
        access: write,
        params: OrgAndId,
        conditional: true,
        response: { status: 200, description: 'The deleted resource.', schema: TransformBody },
        errorStatuses: [409],
      },
      ({ c, organization, params, commit }) =>
        commit(async (tables) => {
          const transform = await tables.transforms.lock(organization.id, params.id);
          if (!transform) throw notFound();
          requireMatch(c.req.header('if-match'), versionTag(transform.version));
          // The row lock keeps other transactions from adding it to a pipeline.
          requireUnused('transform', await tables.pipelines.using(organization.id, transform.id));
          await tables.transforms.remove(transform.id);
          return { status: 200, body: present(transform) };
        }),
    ),
  ];
}

/**
 * Parses and validates the configuration of a transform.
 * @throws ApiError 422
 */
async function readConfig(config: z.output<typeof Config>): Promise<TransformConfig> {
  const parsed = await parseTransform(config);
  if (parsed.ok) return parsed.transform;
  throw invalidPipeline(parsed.problems.map((problem) => ({ ...problem, path: `/config${problem.path}` })));
}

const present = (transform: Transform): z.output<typeof TransformBody> => ({
  id: transform.id,
  organization_id: transform.organizationId,
  name: transform.name,
  description: transform.description,
  config: {
    operations: transform.config.operations.map(({ operation, arguments: given }) => ({
      operation,
      arguments: { ...given },
    })),
  },
  created_at: transform.createdAt.toISOString(),
  updated_at: transform.updatedAt.toISOString(),
  version: transform.version,
});

const saved = (transform: Transform): ResponseData => ({
  status: 200,
  body: present(transform),
  headers: { ETag: versionTag(transform.version) },
});
