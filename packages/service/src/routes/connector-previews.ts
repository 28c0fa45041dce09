import { isDeepStrictEqual } from 'node:util';
import { z } from '@hono/zod-openapi';
import type { ConnectorKind, ConnectorTypeData, Issue } from '@connector-frame/catalog/types';
import { createPlanner, type Planner } from '../connectors/planner.js';
import { notOwned } from '../connectors/not-owned.js';
import { ApiError, invalidRequest } from '../api-error.js';
import { organizationRoute, type OrganizationCall, type ResponseData, type Route } from '../http/route.js';
import type { Connector, ConnectorSecrets, Pipeline } from '../store/store.js';
import { connectorBodies, textIssues, typeNamed } from './connector-bodies.js';
import type { StoredNode } from '../store/tables.js';
import { misfitsOf } from '../pipelines/check-overrides.js';
import type { RouteContext } from './context.js';
import { OrgAndId } from './schemas.js';

const Finding = z
  .object({
    code: z.string(),
    field: z.string().openapi({ description: 'JSON Pointer from the body.' }),
    message: z.string(),
    severity: z.enum(['error', 'warning', 'info']),
    bad_value: z.unknown().optional().openapi({ description: 'The setting. Absent for secrets.' }),
  })
  .openapi('PreviewFinding');

const Preview = z
  .object({
    changed: z.boolean().openapi({ description: 'Whether saving would change the connector.' }),
    blast_radius: z.object({
      findings: z.array(Finding).openapi({ description: 'What is wrong with the configuration.' }),
      blocking_count: z.int().openapi({ description: 'Number of errors. With any, saving is refused.' }),
      warning_count: z.int(),
      instance_count: z.int(),
      organization_count: z.int(),
      instances: z
        .array(
          z
            .object({
              pipeline_id: z.string(),
              pipeline_name: z.string(),
              node_id: z.string(),
              organization_id: z.string(),
              organization_name: z.string(),
              findings: z.array(Finding),
            })
            .openapi('PreviewInstance'),
        )
        .openapi({ description: 'The nodes that use the connector; with `impact=true`.' }),
    }),
  })
  .openapi('ConnectorPreview');

type Found = z.input<typeof Finding>;
type PreviewCall = OrganizationCall<
  { id: string },
  { impact?: 'true' | 'false' | undefined },
  z.output<ReturnType<typeof connectorBodies>['replace']>
>;

/** Routes that say what saving a connector would do. They save nothing. */
export function connectorPreviewRoutes(context: RouteContext, kind: ConnectorKind): Route[] {
  const planner = createPlanner(context, kind);
  const tag = kind === 'input' ? 'Inputs' : 'Outputs';
  return [
    organizationRoute(
      {
        method: 'post',
        path: `/v2/{org}/${kind}s/{id}/preview`,
        tag,
        operation: `preview${tag.slice(0, -1)}`,
        summary: `Check what replacing an ${kind} would do; saves nothing`,
        description: `Takes the body of a PUT. \`findings\` are the errors with which the PUT would be rejected. With \`impact=true\`, \`instances\` are the nodes of pipelines that use the ${kind}, also those of teams, each with what would change for it.`,
        access: { permission: [`${kind}:write`, 'pipeline:read'], session: 'deny' },
        params: OrgAndId,
        query: z.object({
          impact: z
            .enum(['true', 'false'])
            .optional()
            .openapi({ description: '`true`: list what it would mean for the pipelines that use it.' }),
        }),
        body: connectorBodies(kind).replace,
        response: { status: 200, description: 'The errors, and the pipelines that use it.', schema: Preview },
      },
      (call) => preview(context, planner, kind, call),
    ),
  ];
}

async function preview(
  { store, vault: vaults }: RouteContext,
  planner: Planner,
  kind: ConnectorKind,
  { principal, organization, params, query, body }: PreviewCall,
): Promise<ResponseData> {
  const before = await store.connectors.withSecrets(organization.id, params.id);
  if (before?.connector.kind !== kind) throw await notOwned(store, organization.id, kind, params.id);
  const { connector } = before;
  if ((typeNamed(body) ?? connector.type) !== connector.type)
    throw invalidRequest("The type of a connector can't change. Create a new one.");
  const type = planner.type(connector.type);
  const [name, description] = [body.name.trim(), body.description.trim()];
  const renamed = name !== connector.name || description !== connector.description;
  const vault = await vaults.ofOrganization(store, organization.id);
  const write = { type, ...body.config, before, issues: textIssues(name, description) };
  const checked = await tryPlan(() => planner.plan(write, { vault, tables: store, principal, organization }));
  const findings = 'error' in checked ? findingsOf(checked.error, type, body.config.settings) : [];
  const changed = renamed || ('error' in checked ? true : isChanged(checked.plan, before));
  const used = query.impact === 'true' ? await store.pipelines.usingAnywhere(connector.id) : [];
  const names = await store.organizations.names([...new Set(used.map((pipeline) => pipeline.organizationId))]);
  const broken = (node: StoredNode): Found[] =>
    'plan' in checked
      ? misfitsOf(node, type, checked.plan).map(({ path, code, message }) => ({
          code,
          field: path,
          message,
          severity: 'warning',
        }))
      : [];
  const instances = used.flatMap((pipeline) =>
    instancesOf(pipeline, connector, names, changed && findings.length === 0, broken),
  );
  return {
    status: 200,
    body: {
      changed,
      blast_radius: {
        findings,
        blocking_count: findings.length,
        warning_count: instances.flatMap((each) => each.findings).filter(({ severity }) => severity === 'warning')
          .length,
        instance_count: instances.length,
        organization_count: new Set(instances.map((each) => each.organization_id)).size,
        instances,
      },
    },
  };
}

type Plan = Awaited<ReturnType<Planner['plan']>>;

async function tryPlan(plan: () => Promise<Plan>): Promise<{ plan: Plan } | { error: ApiError }> {
  try {
    return { plan: await plan() };
  } catch (error) {
    if (error instanceof ApiError && (error.status === 422 || error.status === 400)) return { error };
    throw error;
  }
}

/** A secret that is entered counts as changed: it is not compared with the stored one. */
const isChanged = (plan: Plan, { connector }: ConnectorSecrets): boolean =>
  plan.changed.length > 0 || plan.removed.length > 0 || !isDeepStrictEqual(plan.settings, connector.settings);

/** Returns the nodes of a pipeline that use the connector, and what saving would mean for each. */
function instancesOf(
  { id, organizationId, name, nodes, enabled }: Pipeline,
  connector: Connector,
  organizationNames: ReadonlyMap<string, string>,
  willChange: boolean,
  broken: (node: StoredNode) => Found[],
) {
  const applied: Found = {
    code: 'applied',
    field: '',
    message: 'The pipeline continues with the new configuration. Stored records are kept.',
    severity: 'info',
  };
  return nodes
    .filter((node) => node.component_id === connector.id)
    .map((node) => ({ node, misfits: willChange ? broken(node) : [] }))
    .map(({ node, misfits }) => ({
      pipeline_id: id,
      pipeline_name: name,
      node_id: node.id,
      organization_id: organizationId,
      organization_name: organizationNames.get(organizationId) ?? '',
      // A refused save changes nothing for the pipeline.
      findings: misfits.length > 0 ? misfits : willChange && enabled && node.enabled ? [applied] : [],
    }));
}

function findingsOf(error: ApiError, type: ConnectorTypeData, settings: Readonly<Record<string, unknown>>): Found[] {
  const details: FieldDetails = error.options.details ?? {};
  const { issues = [], fields = [] } = details;
  const at = (field: string, code: string, message: string): Found => ({
    code,
    field,
    message,
    severity: 'error',
    ...(field.startsWith('/settings/') && badValue(settings, field.slice('/settings'.length))),
  });
  const isRefusal = error.type !== 'invalid_config';
  const found = [
    ...issues.map(({ path, code, message }) =>
      at(path, isRefusal ? error.type : code, isRefusal ? error.message : (message ?? textOf(code, type, path))),
    ),
    ...fields.map((field) => at(field, error.type, error.message)),
  ];
  return found.length > 0 ? found : [at('', error.type, error.message)];
}

/** The details of errors that name fields, as `planWrite` throws them. */
interface FieldDetails {
  issues?: readonly Issue[];
  fields?: readonly string[];
}

function textOf(code: string, type: ConnectorTypeData, path: string): string {
  if (code === 'required') return 'A value is required.';
  if (code === 'unknown_property') return `${type.name} has no such field.`;
  return path === '/name' || path === '/description' ? 'The text is not valid.' : 'The value is not valid.';
}

/** Returns the value of a setting, unless it is absent. */
function badValue(settings: Readonly<Record<string, unknown>>, pointer: string): { bad_value?: unknown } {
  let value: unknown = settings;
  for (const key of pointer.slice(1).split('/')) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    const inner: unknown =
      typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Object(value)[name] : undefined;
    if (inner === undefined) return {};
    value = inner;
  }
  return { bad_value: value };
}
