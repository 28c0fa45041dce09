import { randomUUID } from 'node:crypto';
import type { z } from '@hono/zod-openapi';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { notFound } from '../api-error.js';
import type { Principal } from '../auth/principal.js';
import { requireMatch, versionTag } from '../http/etag.js';
import { organizationRoute, type ResponseData, type OrganizationCall, type Route } from '../http/route.js';
import { ChangePipeline, CreatePipeline, SwitchEdge, SwitchPipeline } from '../pipelines/graph-bodies.js';
import { checkOverrides } from '../pipelines/check-overrides.js';
import { overridesOf } from '../pipelines/config-overrides.js';
import { holdComponents } from '../pipelines/hold-components.js';
import { invalidPipeline } from '../pipelines/invalid-pipeline.js';
import { componentsAt } from '../pipelines/node-components.js';
import { PipelineBody, presentPipeline } from '../pipelines/present-pipeline.js';
import { readGraph } from '../pipelines/read-graph.js';
import { schedulesOf } from '../pipelines/schedules.js';
import type { Pipeline, Tables } from '../store/store.js';
import type { RouteContext } from './context.js';
import { readerOf, requireMayOverride } from './override-access.js';
import { pipelineAddresses } from './pipelines.js';
import { Id, Org, OrgAndId } from './schemas.js';

const WRONG_PIPELINE =
  'The graph could not work, or names components that do not exist (`invalid_pipeline`, with `issues`).';

type CreateCall = OrganizationCall<unknown, unknown, z.output<typeof CreatePipeline>>;
type SwitchEdgeCall = OrganizationCall<{ id: string; edge: string }, unknown, z.output<typeof SwitchEdge>>;
/** Also used for `/v1`, where nodes and edges cannot be changed. */
type ChangeCall = OrganizationCall<{ id: string }, unknown, z.output<typeof ChangePipeline>>;

/** Routes that create and change pipelines. */
export function pipelineWriteRoutes(context: RouteContext): Route[] {
  const tag = 'Pipelines';
  const access = { permission: 'pipeline:write', session: 'deny' } as const;
  const changed = {
    method: 'patch',
    tag,
    access,
    params: OrgAndId,
    idempotent: true,
    conditional: true,
    response: { status: 200, description: 'The updated pipeline.', schema: PipelineBody },
    etag: true,
    errorStatuses: { 400: WRONG_PIPELINE },
  } as const;
  return [
    ...pipelineAddresses.map(({ path, name }) =>
      organizationRoute(
        {
          method: 'post',
          path,
          tag,
          operation: `create${name}Pipeline`,
          summary: 'Create a pipeline',
          description: 'A pipeline without nodes does not run.',
          access,
          params: Org,
          body: CreatePipeline,
          idempotent: true,
          response: { status: 201, description: 'The pipeline.', schema: PipelineBody },
          etag: true,
          errorStatuses: { 400: WRONG_PIPELINE },
        },
        (call) => create(context, call),
      ),
    ),

    organizationRoute(
      {
        ...changed,
        path: '/v2/{org}/pipelines/{id}',
        operation: 'changePipeline',
        summary: 'Update a pipeline; absent properties are kept',
        description:
          '`nodes` and `edges` replace all nodes and edges. A node with the same `id` or `slug` and the same component keeps its id.',
        body: ChangePipeline,
      },
      (call) => change(context, call),
    ),

    organizationRoute(
      {
        ...changed,
        path: '/v2/{org}/pipelines/{id}/edges/{edge}',
        operation: 'switchPipelineEdge',
        summary: 'Disable or enable an edge',
        description: 'No record passes a disabled edge.',
        params: OrgAndId.extend({ edge: Id }),
        body: SwitchEdge,
        response: { status: 204, description: 'The edge was changed.' },
      },
      (call) => switchEdge(context, call),
    ),

    organizationRoute(
      {
        ...changed,
        path: '/v1/{org}/pipelines/{id}',
        operation: 'switchPipeline',
        summary: 'Pause, resume or rename a pipeline; absent properties are kept',
        description:
          'While a pipeline is paused, nothing is read or delivered. Records that are pushed to its input are stored, within the limit of its buffer.',
        body: SwitchPipeline,
      },
      (call) => change(context, call),
    ),
  ];
}

async function create(
  context: RouteContext,
  { principal, organization, body, commit }: CreateCall,
): Promise<ResponseData> {
  const { clock, engine } = context;
  const now = new Date(clock.now());
  const pipeline: Pipeline = {
    id: randomUUID(),
    organizationId: organization.id,
    name: body.name,
    description: body.description,
    enabled: body.enabled,
    ...readGraph(body),
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
  const response = await commit(async (tables) => {
    await checkNodes(context, { tables, principal }, pipeline, []);
    await tables.pipelines.insert(pipeline);
    return { ...(await saved(context, { tables, principal }, pipeline)), status: 201 };
  });
  engine.changed(pipeline.id, pipeline.nodes);
  return response;
}

async function change(context: RouteContext, call: ChangeCall): Promise<ResponseData> {
  const { body } = call;
  return rewrite(context, call, (before) => ({
    name: body.name ?? before.name,
    description: body.description ?? before.description,
    enabled: body.enabled ?? before.enabled,
    ...(body.nodes || body.edges ? readGraph(body, before) : {}),
  }));
}

async function switchEdge(context: RouteContext, call: SwitchEdgeCall): Promise<ResponseData> {
  const { params, body } = call;
  const { headers } = await rewrite(context, call, ({ edges }) => {
    if (!edges.some(({ id }) => id === params.edge)) throw notFound();
    const disabled = body.disabled === undefined ? {} : { disabled: body.disabled };
    return { edges: edges.map((edge) => (edge.id === params.edge ? { ...edge, ...disabled } : edge)) };
  });
  return { status: 204, ...(headers && { headers }) };
}

/** Changes a pipeline, and notifies the engine. */
async function rewrite(
  context: RouteContext,
  { c, principal, organization, params, commit }: OrganizationCall<{ id: string }, unknown, unknown>,
  edit: (before: Pipeline) => Partial<Pipeline>,
): Promise<ResponseData> {
  const { clock, engine } = context;
  let nodes: Pipeline['nodes'] | undefined;
  const response = await commit(async (tables) => {
    const before = await tables.pipelines.lock(organization.id, params.id);
    if (!before) throw notFound();
    requireMatch(c.req.header('if-match'), versionTag(before.version));
    const after: Pipeline = {
      ...before,
      ...edit(before),
      version: before.version + 1,
      updatedAt: new Date(clock.now()),
    };
    if (after.nodes !== before.nodes) await checkNodes(context, { tables, principal }, after, before.nodes);
    await tables.pipelines.update(after, before);
    ({ nodes } = after);
    return saved(context, { tables, principal }, after);
  });
  engine.changed(params.id, nodes);
  return response;
}

/** A write in a transaction, by its caller. */
interface Write {
  tables: Tables;
  principal: Principal;
}

/**
 * Holds the components of the nodes, and checks their overrides.
 * @param before the nodes as they are stored
 * @throws ApiError 400 `invalid_pipeline`, or 403
 */
async function checkNodes(
  { catalog, configOverrides, vault: vaults }: RouteContext,
  { tables, principal }: Write,
  { organizationId, nodes }: Pipeline,
  before: Pipeline['nodes'],
): Promise<void> {
  const missing = await holdComponents(tables, organizationId, nodes);
  if (missing.length > 0) throw invalidPipeline(missing);
  if (!nodes.some((node) => overridesOf(node) !== undefined)) return;
  const vault = await vaults.ofOrganization(tables, organizationId);
  const requireAllowed = (kind: ConnectorKind) => requireMayOverride(kind, principal, configOverrides);
  const checks = { catalog, requireAllowed, tables, vault, organizationId };
  const problems = await checkOverrides(nodes, before, checks);
  if (problems.length > 0) throw invalidPipeline(problems);
}

async function saved(context: RouteContext, { tables, principal }: Write, pipeline: Pipeline): Promise<ResponseData> {
  const schedules = await schedulesOf(context, tables, pipeline.organizationId, [pipeline]);
  const components = await componentsAt(tables, pipeline, readerOf(principal));
  return {
    status: 200,
    body: presentPipeline(pipeline, { schedule: schedules.get(pipeline.id), components }),
    headers: { ETag: versionTag(pipeline.version) },
  };
}
