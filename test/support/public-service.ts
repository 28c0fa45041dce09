import type { ServiceRequest } from '@connector-frame/core/connect';

type Row = Record<string, unknown>;

/** A request that the service received. */
export interface PublicCall {
  method: string;
  path: string;
  body: Row | undefined;
}

/** What the API's documents leave open, and services do differently. */
export interface PublicVariant {
  /** Rows of the pipeline list contain their input; otherwise `input_id` is `""`. */
  inputInRows?: boolean;
  /** Connectors list the pipelines that use them; otherwise `component_of` is `null`. */
  componentOf?: boolean;
  /** Statuses of a new pipeline, one per status request; the last one repeats. */
  statuses?: string[];
}

/**
 * An in-memory service with the shapes of the public API's own documents (`models.Pipeline`,
 * `models.PipelineConfigV2`, `models.PipelineStatus`, `routesV3.CreateSessionResponse` and so on),
 * not with those of this project's service: no `organizationId` in a session, no `integrations`
 * routes, no `output_ids`, empty IDs and status objects in rows, `null` for empty lists, strings as
 * the answer to a deletion, and a plain string as the error of older routes.
 */
export function publicService(variant: PublicVariant = {}) {
  const org = 'org-1';
  const tables = {
    inputs: new Map<string, Row>(),
    outputs: new Map<string, Row>(),
    pipelines: new Map<string, Row>(),
  };
  const calls: PublicCall[] = [];
  let made = 0;
  let polls = 0;

  const stamp = { created_at: '2026-11-12T10:00:00Z', updated_at: '2026-11-12T10:00:00Z', managed_by: 'customer' };

  function addConnector(kind: 'inputs' | 'outputs', { name, type, config }: Row): Row {
    const id = newId();
    const row = { id, name, type, config, description: '', organization_id: org, version: 1, ...stamp };
    tables[kind].set(id, row);
    return row;
  }

  function addPipeline({ name, description = '', nodes, edges, enabled = true }: Row): Row {
    const id = newId();
    const whole = { id, name, description, enabled, edges, nodes: listOf(nodes).map(withId), organizationId: org };
    tables.pipelines.set(id, whole);
    return whole;
  }

  const newId = (): string => `00000000-0000-4000-8000-${String((made += 1)).padStart(12, '0')}`;
  const withId = (node: Row): Row => ({ id: newId(), organization_id: org, ...node });
  const uses = (pipeline: Row, id: string) => listOf(pipeline['nodes']).some((node) => node['component_id'] === id);
  const using = (id: string) => [...tables.pipelines.values()].filter((pipeline) => uses(pipeline, id));

  function statusOf({ id, name, enabled }: Row): Row {
    const statuses = variant.statuses ?? ['Running'];
    const status = enabled ? statuses[Math.min(polls, statuses.length - 1)] : 'Disabled';
    return { pipeline_id: id, pipeline_name: name, organization_id: org, status, errors: 0, nodes: null };
  }

  /** `models.Pipeline`: a row of a list, or of `component_of`. */
  function rowOf(pipeline: Row): Row {
    const { id, name, description, enabled, nodes } = pipeline;
    const input = listOf(nodes).find((node) => node['component_type'] === 'input');
    const input_id = variant.inputInRows ? input?.['component_id'] : '';
    return { id, name, description, enabled, input_id, organization_id: org, status: statusOf(pipeline), ...stamp };
  }

  /** `models.PipelineConfigV2`. */
  const wholeOf = (pipeline: Row): Row => ({ ...pipeline, status: statusOf(pipeline), managed_by: 'customer' });

  function find(table: keyof typeof tables, id: string): Row {
    const row = tables[table].get(id);
    if (!row) throw new PublicError(404, 'not found');
    return row;
  }

  function connectors(method: string, kind: 'inputs' | 'outputs', id: string, body: Row): unknown {
    if (method === 'POST') return addConnector(kind, body);
    if (!id) return listed(kind, [...tables[kind].values()]);
    const row = find(kind, id);
    const pipelines = using(id);
    if (method === 'GET') return { ...row, component_of: variant.componentOf ? orNull(pipelines.map(rowOf)) : null };
    if (pipelines.length > 0) throw new PublicError(500, 'component is in use');
    tables[kind].delete(id);
    return kind === 'inputs' ? {} : 'output deleted';
  }

  function pipelines(method: string, version: string, id: string, more: string, body: Row): unknown {
    if (method === 'POST' && !id) return wholeOf(addPipeline(body));
    if (!id) return listed('pipelines', [...tables.pipelines.values()].map(rowOf));
    const pipeline = find('pipelines', id);
    if (more === 'status') {
      const status = statusOf(pipeline);
      polls += 1;
      return status;
    }
    if (method === 'PATCH') Object.assign(pipeline, body);
    if (method === 'DELETE') return tables.pipelines.delete(id) && 'pipeline deleted';
    return version === 'v1' ? rowOf(pipeline) : wholeOf(pipeline);
  }

  function answer({ method, path, body = {} }: PublicCall): unknown {
    const [version = '', scope = '', kind = '', id = '', more = ''] = path.split('/').slice(1);
    if (path === '/v3/sessions')
      return { session_token: 'token-1', expires_at: '2026-11-12T10:30:00Z', ttl_seconds: 1800 };
    if (path === '/v1/inputs' || path === '/v1/outputs') return catalog;
    if (scope !== org) throw new PublicError(404, 'not found');
    if (version !== 'v3' && (kind === 'inputs' || kind === 'outputs')) return connectors(method, kind, id, body);
    if (version !== 'v3' && kind === 'pipelines') return pipelines(method, version, id, more, body);
    throw new PublicError(404, 'not found');
  }

  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as Row) : undefined;
    const call: PublicCall = { method: init.method ?? 'GET', path: pathname.replace(/\/$/, ''), body };
    calls.push(call);
    try {
      return Response.json(answer(call), {
        status: call.method === 'POST' && call.path.endsWith('/pipelines') ? 201 : 200,
      });
    } catch (error) {
      if (!(error instanceof PublicError)) throw error;
      return Response.json(error.message, { status: error.status });
    }
  };

  /** The public clients' reference request function: the status is only in the error's message. */
  const request: ServiceRequest = async (path, init) => {
    const response = await fetch(`https://service.example${path}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${path}: ${text.slice(0, 300)}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };

  const addInput = () => String(addConnector('inputs', { name: 'Web', type: 'okta-systemlog' })['id']);
  const addOutput = () => String(addConnector('outputs', { name: 'Archive', type: 's3' })['id']);

  return { ...tables, calls, org, fetch, request, addInput, addOutput, variant };
}

class PublicError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const catalog = [
  { type_id: 'okta-systemlog', name: 'Okta System Log', description: '', in_beta: false, version: 1, tier: 1 },
  { type_id: 's3', name: 'Amazon S3', description: '', in_beta: false, version: 2, tier: 1 },
];

/** An empty list is `null`, as Go encodes a nil slice. */
const orNull = (rows: Row[]): Row[] | null => (rows.length > 0 ? rows : null);

const listed = (name: string, rows: Row[]): Row => ({
  [name]: orNull(rows),
  pagination: { limit: 1_000, offset: 0, total: rows.length },
});

const listOf = (value: unknown): Row[] => (Array.isArray(value) ? (value as Row[]) : []);
