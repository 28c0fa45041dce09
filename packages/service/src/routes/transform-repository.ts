import { z } from '@hono/zod-openapi';
import { parseTransform } from '@connector-frame/engine';
import { invalidRequest, notFound } from '../api-error.js';
import { route, type Route } from '../http/route.js';
import { invalidTransform } from '../pipelines/invalid-pipeline.js';
import { TransformConfig } from '../pipelines/transform-config-body.js';
import {
  formatTransform,
  loadRepository,
  readTransformFile,
  type RepositoryTransform,
} from '../pipelines/transform-repository.js';
import type { StoredTransform } from '../store/tables.js';
import { Id, PageQuery, Pagination } from './schemas.js';

const Texts = z.array(z.string().min(1).max(200)).max(50);

const TransformFileBody = z
  .object({
    name: z.string().trim().min(1).max(200),
    description: z.string().max(2_000).optional(),
    inputs: Texts.optional().openapi({ description: '`type_id` of the inputs whose records it is for.' }),
    tags: Texts.optional(),
    author: z.string().min(1).max(200).optional(),
    contributors: Texts.optional(),
    config: TransformConfig,
  })
  .openapi('TransformFile', {
    example: {
      name: 'Users only',
      inputs: ['okta-systemlog'],
      config: { operations: [{ operation: 'drop_key', arguments: { key: 'debugContext' } }] },
    },
  });

const Entry = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    input_type_id: z.string().optional().openapi({ description: 'The first input whose records it is for.' }),
    config: TransformConfig,
  })
  .openapi('RepositoryTransform');

const Metadata = z
  .object({
    name: z.string(),
    description: z.string(),
    path: z.string().openapi({ description: 'Its id.' }),
    inputs: Texts,
    tags: Texts,
    author: z.string().optional(),
    contributors: Texts.optional(),
  })
  .openapi('TransformIndexEntry');

const Imported = z
  .object({ name: z.string(), description: z.string(), config: TransformConfig })
  .openapi('ImportedTransform');

const YAML = `name: Users only
config:
  operations:
    - operation: drop_key
      arguments:
        key: debugContext
`;
const WRONG_OPERATIONS = 'An operation or a condition is not valid (`invalid_transform`, with `issues`).';

const tag = 'Transforms';
const access = { permission: 'transform:read', session: 'deny' } as const;
const write = { permission: 'transform:write', session: 'deny' } as const;
const params = z.object({ transform_id: Id });

/** Routes for the transforms that come with the service, and for transforms as files. */
export function transformRepositoryRoutes(): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/v2/transforms/repository',
        tag,
        operation: 'listRepositoryTransforms',
        summary: 'List the transforms that come with the service',
        description: 'To start from: create a transform with the `config` of one of them.',
        access,
        query: PageQuery,
        response: {
          status: 200,
          description: 'In the order of their ids.',
          schema: z.object({ transforms: z.array(Entry), pagination: Pagination }).openapi('RepositoryTransformList'),
        },
      },
      async ({ query }) => {
        const { transforms } = await loadRepository();
        const page = transforms.slice(query.offset, query.offset + query.limit);
        return {
          status: 200,
          body: { transforms: page.map(entryOf), pagination: { ...query, total: transforms.length } },
        };
      },
    ),
    route(
      {
        method: 'get',
        path: '/v2/transforms/repository/{transform_id}',
        tag,
        operation: 'readRepositoryTransform',
        summary: 'Read a transform that comes with the service',
        description: 'Its `config` can be the body of a call that creates a transform.',
        access,
        params,
        response: { status: 200, description: 'The transform.', schema: Entry },
      },
      async ({ params: { transform_id: id } }) => ({ status: 200, body: entryOf(await find(id)) }),
    ),
    route(
      {
        method: 'get',
        path: '/v3/transforms/repository',
        tag,
        operation: 'readTransformIndex',
        summary: 'Read the index of the transforms that come with the service',
        description:
          'Names, tags and inputs of all of them, without their operations. `schema_hash` changes whenever one of them does.',
        access,
        response: {
          status: 200,
          description: 'All of them, and a hash that changes with them.',
          schema: z.object({ schema_hash: z.string(), transforms: z.array(Metadata) }).openapi('TransformIndex'),
        },
      },
      async () => {
        const { transforms, hash } = await loadRepository();
        const index = transforms.map(({ id, config: _config, ...metadata }) => ({ ...metadata, path: id }));
        return { status: 200, body: { schema_hash: hash, transforms: index } };
      },
    ),
    route(
      {
        method: 'get',
        path: '/v3/transforms/repository/{transform_id}',
        tag,
        operation: 'readTransformFile',
        summary: 'Read a transform that comes with the service, as a file',
        description: 'In the format that the export and the import take.',
        access,
        params,
        response: { status: 200, description: 'The transform.', schema: TransformFileBody },
      },
      async ({ params: { transform_id: wanted } }) => {
        const { id: _id, ...file } = await find(wanted);
        return { status: 200, body: file };
      },
    ),
    route(
      {
        method: 'post',
        path: '/v3/transforms/repository/export',
        tag,
        operation: 'exportTransform',
        summary: 'Format a transform as YAML; saves nothing',
        description: 'The operations are checked. `POST /v3/transforms/repository/import` reads the YAML.',
        access: write,
        body: TransformFileBody,
        response: { status: 200, description: 'YAML.', schema: z.string(), contentType: 'text/plain', example: YAML },
        errorStatuses: { 422: WRONG_OPERATIONS },
      },
      async ({ body }) => {
        await check(body.config);
        return {
          status: 200,
          body: await formatTransform(body),
          headers: { 'Content-Type': 'text/plain; charset=utf-8' },
        };
      },
    ),
    route(
      {
        method: 'post',
        path: '/v3/transforms/repository/import',
        tag,
        operation: 'importTransform',
        summary: 'Read a transform from YAML and check it; saves nothing',
        description: 'Send the text as `text/plain`. Create a transform with the response to save it.',
        access: write,
        body: z.string(),
        bodyType: 'text/plain',
        bodyExample: YAML,
        response: { status: 200, description: 'The transform, to be created.', schema: Imported },
        errorStatuses: { 422: WRONG_OPERATIONS },
      },
      async ({ body }) => {
        const file = await readTransformFile(body);
        if ('problem' in file) throw invalidRequest(`This is no transform. ${file.problem}`);
        await check(file.config);
        const { name, description = '', config } = file;
        return { status: 200, body: { name, description, config } };
      },
    ),
  ];
}

async function find(id: string): Promise<RepositoryTransform> {
  const transform = (await loadRepository()).get(id);
  if (!transform) throw notFound();
  return transform;
}

const entryOf = ({ id, name, description, inputs: [input], config }: RepositoryTransform) => ({
  id,
  name,
  description,
  ...(input === undefined ? {} : { input_type_id: input }),
  config,
});

/** @throws ApiError 422 */
async function check(config: StoredTransform): Promise<void> {
  const parsed = await parseTransform(config);
  if (!parsed.ok)
    throw invalidTransform(parsed.problems.map((problem) => ({ ...problem, path: `/config${problem.path}` })));
}
