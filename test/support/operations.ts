import type { App } from '../../packages/service/src/app.js';

/** One operation of the service's own OpenAPI document. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  /** Whether the operation requires no credentials. */
  isPublic: boolean;
  /** Whether the operation requires an API key of the operator. */
  isOperator: boolean;
  session: 'allow' | 'deny';
  /** Slugs of the permissions that an API key needs. */
  permissions: readonly string[];
  /** Whether the response is a stream that does not end. */
  isStream: boolean;
  /** Names of the path parameters. */
  params: string[];
  /** Required query parameters, each with a valid value; `undefined` for ids. */
  query: readonly (readonly [name: string, value: string | undefined])[];
  /** Example of the request body; undefined if it takes none. */
  example?: Record<string, unknown>;
  /** Fields of the body that hold an id. */
  idFields: string[];
}

interface Schema {
  $ref?: string;
  example?: Record<string, unknown>;
  properties?: Record<string, unknown>;
}

interface Document {
  paths: Record<string, Record<string, DocumentOperation>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
}

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  schema: { enum?: string[]; example?: string };
}

interface DocumentOperation {
  parameters?: (Parameter | { $ref: string })[];
  operationId: string;
  'x-public'?: true;
  'x-operator'?: true;
  'x-session': 'allow' | 'deny';
  'x-permissions'?: string[];
  requestBody?: { content: { 'application/json'?: { schema: Schema } } };
  responses: Record<string, { content?: Record<string, unknown> }>;
}

/**
 * Returns every operation of the document.
 * @throws Error if an operation takes a body and has no example of it
 */
export async function operationsOf(app: App): Promise<Operation[]> {
  const document: Document = await (await app.request('/openapi.json')).json();
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => {
      const sent = operation.requestBody?.content['application/json']?.schema;
      const schema = sent?.$ref === undefined ? sent : document.components.schemas[sent.$ref.split('/').at(-1) ?? ''];
      if (schema && !schema.example) throw new Error(`${operation.operationId} shows no example of its body.`);
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        isPublic: operation['x-public'] === true,
        isOperator: operation['x-operator'] === true,
        session: operation['x-session'],
        permissions: operation['x-permissions'] ?? [],
        isStream: Object.hasOwn(operation.responses['200']?.content ?? {}, 'text/event-stream'),
        params: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
        query: (operation.parameters ?? [])
          .map((parameter) => ('$ref' in parameter ? parameterAt(document, parameter.$ref) : parameter))
          .filter((parameter) => parameter.in === 'query' && parameter.required)
          .map(({ name, schema: { enum: values, example } }) => [name, values?.[0] ?? example] as const),
        idFields: Object.keys(schema?.properties ?? {}).filter((name) => /(^|_)id$/.test(name) && name !== 'type_id'),
        ...(schema?.example ? { example: schema.example } : {}),
      };
    }),
  );
}

function parameterAt({ components }: Document, ref: string): Parameter {
  const parameter = components.parameters[ref.split('/').at(-1) ?? ''];
  if (!parameter) throw new Error(`The document has no ${ref}.`);
  return parameter;
}

/**
 * Values for `{id}` in a path, by the segment before it: `inputs`, `api-keys`; for `{node}`, `{edge}`
 * and `{letter}`: `nodes`, `edges` and `dead-letters`, or a valid id that nothing has. For
 * `{resource_id}`: `resource_shares`, an output; for `{billing_role}` and `{billing_user}`:
 * `billing_roles` and `billing_users`. In a query, by the name of the parameter.
 */
export type Ids = Record<string, string>;

/** Ids that every service has. */
const shipped: Ids = { repository: 'cloudtrail-actor', enrichments_meta: 'csv-table', 'storage-types': 'dev-null' };

/** A body that creates an alert rule. */
export const exampleRule = {
  name: 'A',
  type: 'threshold-alert',
  severity: 'high',
  rule_config: {
    settings: {
      metric_config: { type: 'errors', errors: { threshold: 10 } },
      operator: 'greater_than',
      time_window: '5m',
    },
  },
} as const;

/**
 * Fills in the parameters of a path, and adds the required query.
 * @throws Error if a parameter has no value, so that each new route must define one
 */
export function fillPath(operation: Operation, organization: { org: string; parent_org: string }, ids: Ids): string {
  const path = operation.path
    .replace('/{node}', `/${ids['nodes'] ?? 'no-node'}`)
    .replace('/{feature}', '/node_data')
    .replace('/{edge}', `/${ids['edges'] ?? 'no-edge'}`)
    .replace('/v3/alert_rules/{type_id}', '/v3/alert_rules/threshold-alert')
    .replace('/v1/oauth/{type_id}', '/v1/oauth/github-audit-logs')
    .replace('/{org}/{id}', `/${organization.org}/no-consent`)
    .replace('/{resource_type}/{resource_id}', `/component/${ids['resource_shares'] ?? 'no-output'}`)
    .replace('/{billing_role}', `/${ids['billing_roles'] ?? 'no-role'}`)
    .replace('/{billing_user}', `/${ids['billing_users'] ?? 'no-user'}`)
    .replace('/{letter}', `/${ids['dead-letters'] ?? 'no-node.1'}`);
  const query = operation.query.map(([name, value]) => [name, value ?? ids[name.replace(/_ids$/, 's')] ?? '']);
  const search = query.length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
  const filled = path.replaceAll(/([\w-]+)\/\{(\w+)\}/g, (_all, before: string, name: string) => {
    const value =
      name === 'org' || name === 'parent_org'
        ? organization[name]
        : { ...shipped, ...ids }[before === 'retry' ? 'pipelines' : before];
    if (value === undefined) throw new Error(`${operation.id}: no value for {${name}} after ${before}.`);
    return `${before}/${value}`;
  });
  return `${filled}${search}`;
}
