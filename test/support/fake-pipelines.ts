import type { ServiceRequest } from '@connector-frame/core/connect';

/** Optional features of a service beyond the public shapes, and its response behavior. */
export interface Abilities {
  /** The two atomic `integrations` calls. */
  integrations?: boolean;
  /** Connectors list the pipelines that use them. */
  componentOf?: boolean;
  /** `PATCH /v1/{org}/pipelines/{id}`. */
  partialPatch?: boolean;
  /** Rows of the pipeline list contain their input. */
  inputInList?: boolean;
  /** Maximum rows per page, whatever limit is requested. */
  pageSize?: number;
  /** Whether a page contains the total count. */
  total?: boolean;
  /** Statuses of a new pipeline, one per status request; the last one repeats. */
  statuses?: string[];
  /** Throws errors as some request functions do, with the status only in the message. */
  statusInText?: boolean;
  /** Awaited before each response. */
  delay?: () => Promise<void>;
}

export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Row | undefined;
  headers: Headers;
}

type Row = Record<string, unknown>;
type Table = Map<string, Row>;

/** Makes request number `index` fail: before it takes effect, after it, or with a status. */
export type Failure = (index: number, asked: Asked) => 'before' | 'after' | number | undefined;

const ORG = 'org-1';

/**
 * Creates an in-memory service for `request`. Tests turn each feature on or off and inject
 * failures.
 */
export function fakePipelines(can: Abilities = {}, fail: Failure = () => undefined) {
  const tables = { inputs: table(), outputs: table(), pipelines: table() };
  const asked: Asked[] = [];
  const polls = new Map<string, number>();
  let made = 0;
  let inFlight = 0;
  const world = { ...tables, asked, mostInFlight: 0, can, fail };

  const add = (kind: keyof typeof tables, row: Row): Row => {
    made += 1;
    const id = `${kind}-${made}`;
    const whole = { id, organization_id: ORG, ...row };
    tables[kind].set(id, whole);
    return whole;
  };

  const rowOf = (pipeline: Row) => {
    const nodes = pipeline['nodes'] as Row[];
    const idsOf = (type: string) =>
      nodes.filter((node) => node['component_type'] === type).map((node) => node['component_id']);
    return {
      id: pipeline['id'],
      name: pipeline['name'],
      enabled: pipeline['enabled'],
      ...(world.can.inputInList === false ? {} : { input_id: idsOf('input')[0] ?? null, output_ids: idsOf('output') }),
    };
  };
  const uses = (pipeline: Row, id: string) => (pipeline['nodes'] as Row[]).some((node) => node['component_id'] === id);
  const using = (id: string) => [...tables.pipelines.values()].filter((pipeline) => uses(pipeline, id));

  function answer({ method, path, query, body = {} }: Asked): unknown {
    const [, version, org, kind = '', id = '', more] = path.split('/').map(decodeURIComponent);
    if (org !== ORG) throw new Refusal(404);
    const call = `${method} ${version} ${kind}${id ? ' id' : ''}${more ? ` ${more}` : ''}`;
    if (kind === 'integrations') {
      if (!world.can.integrations || method !== 'POST') throw new Refusal(404);
      return id === 'delete' ? remove(body) : build(body);
    }
    if (call === 'GET v1 inputs id' || call === 'GET v1 outputs id') {
      const row = known(kind, id);
      if (world.can.componentOf === false) return row;
      return { ...row, component_of: using(id).map((pipeline) => rowOf(pipeline)) };
    }
    if (call === 'DELETE v1 inputs id' || call === 'DELETE v1 outputs id') {
      known(kind, id);
      if (using(id).length > 0) throw new Refusal(409);
      tableOf(kind).delete(id);
      return undefined;
    }
    if (call === 'POST v2 outputs') return add('outputs', body);
    if (call === 'GET v2 pipelines') {
      const offset = Number(query.get('offset'));
      const limit = Math.min(world.can.pageSize ?? 1_000, Number(query.get('limit') ?? 10), 1_000);
      const all = [...tables.pipelines.values()];
      const pagination = { limit, offset, ...(world.can.total === false ? {} : { total: all.length }) };
      return { pipelines: all.slice(offset, offset + limit).map(rowOf), pagination };
    }
    if (call === 'POST v2 pipelines') {
      for (const node of body['nodes'] as Row[])
        known(`${String(node['component_type'])}s`, String(node['component_id']), 400);
      return add('pipelines', { enabled: true, ...body });
    }
    if (kind !== 'pipelines' || !id) throw new Refusal(404);
    if (call === 'PATCH v1 pipelines id') {
      if (world.can.partialPatch === false) throw new Refusal(405);
      const { name, description, enabled } = body;
      return Object.assign(known(kind, id), JSON.parse(JSON.stringify({ name, description, enabled })));
    }
    if (version !== 'v2') throw new Refusal(404);
    const pipeline = known(kind, id);
    if (more === 'status') {
      const count = polls.get(id) ?? 0;
      polls.set(id, count + 1);
      const statuses = world.can.statuses ?? ['Running'];
      return { pipeline_id: id, status: statuses[Math.min(count, statuses.length - 1)] };
    }
    if (method === 'GET') return pipeline;
    if (method === 'DELETE') return void tables.pipelines.delete(id);
    // Replaces the whole pipeline, as a service without partial updates does.
    tables.pipelines.set(id, { ...body });
    return body;
  }

  const tableOf = (kind: string): Table => {
    if (kind === 'inputs' || kind === 'outputs' || kind === 'pipelines') return tables[kind];
    throw new Refusal(404);
  };
  const known = (kind: string, id: string, status = 404): Row => {
    const row = tableOf(kind).get(id);
    if (!row) throw new Refusal(status);
    return row;
  };

  function build(body: Row): Row {
    const input = String(body['input_id']);
    known('inputs', input, 400);
    const wanted = body['output'] as Row & { id?: string };
    const output = wanted.id === undefined ? add('outputs', wanted) : known('outputs', wanted.id, 422);
    const pipeline = add('pipelines', {
      name: body['name'],
      enabled: true,
      nodes: [
        { component_id: input, component_type: 'input' },
        { component_id: output['id'], component_type: 'output' },
      ],
    });
    return { pipeline_id: pipeline['id'], input_id: input, output_id: output['id'], status: 'Pending', enabled: true };
  }

  function remove(body: Row): undefined {
    const cleanup = body['cleanup'] as Row;
    for (const part of ['pipeline', 'input', 'output'] as const) {
      const id = body[`${part}_id`];
      if (cleanup[part] !== false && typeof id === 'string') tables[`${part}s`].delete(id);
    }
  }

  const request: ServiceRequest = async (path, init = {}) => {
    const url = new URL(path, 'http://fake');
    const one: Asked = {
      method: init.method ?? 'GET',
      path: url.pathname.replace(/\/$/, ''),
      query: url.searchParams,
      body: typeof init.body === 'string' ? (JSON.parse(init.body) as Row) : undefined,
      headers: new Headers(init.headers),
    };
    const index = asked.push(one) - 1;
    inFlight += 1;
    world.mostInFlight = Math.max(world.mostInFlight, inFlight);
    try {
      await (world.can.delay ?? (() => Promise.resolve()))();
      init.signal?.throwIfAborted();
      const failure = world.fail(index, one);
      if (typeof failure === 'number') throw new Refusal(failure);
      if (failure === 'before') throw new TypeError('fetch failed');
      const text = JSON.stringify(answer(one));
      if (failure === 'after') throw new TypeError('fetch failed');
      return text === undefined ? undefined : (JSON.parse(text) as unknown);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const refusal = new Error(world.can.statusInText ? `${error.status} ${path}: {"error":"no"}` : 'refused');
      throw world.can.statusInText ? refusal : Object.assign(refusal, { status: error.status });
    } finally {
      inFlight -= 1;
    }
  };

  /** Adds an input and, if `piped`, a pipeline from it to a new output. */
  const addInput = (piped = false, extra: Row = {}) => {
    const inputId = String(add('inputs', { type: 'monad-http', name: 'Web' })['id']);
    if (!piped) return { inputId };
    const { pipeline_id, output_id } = build({ input_id: inputId, name: 'Web', output: { type: 'dev-null' } });
    Object.assign(known('pipelines', String(pipeline_id)), extra);
    return { inputId, pipelineId: String(pipeline_id), outputId: String(output_id) };
  };

  const addOutput = (type = 'splunk') => String(add('outputs', { type, name: 'Archive' })['id']);

  return Object.assign(world, { org: ORG, request, addInput, addOutput });
}

export type FakePipelines = ReturnType<typeof fakePipelines>;

const table = (): Table => new Map();

class Refusal extends Error {
  constructor(readonly status: number) {
    super('refused');
  }
}

/**
 * Returns a `fetch` of the same service for organization `org`. Error responses have a body that
 * must not reach the browser.
 */
export function fetchOf(fake: FakePipelines, org: string): typeof globalThis.fetch {
  return async (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    if (!pathname.split('/').includes(org)) return Response.json({ error: 'canary-4711' }, { status: 404 });
    try {
      const answer = await fake.request(pathname.replace(`/${org}`, `/${fake.org}`) + search, init);
      return new Response(answer === undefined ? null : JSON.stringify(answer), {
        status: answer === undefined ? 204 : 200,
      });
    } catch (error) {
      const { status } = Object(error) as { status?: number };
      if (status === undefined) throw error;
      return Response.json({ error: 'canary-4711' }, { status });
    }
  };
}
