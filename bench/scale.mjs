import { createApp } from '@connector-frame/service';
import { bareConnectors } from './bare-connectors.mjs';
import { report, sideBySide } from './lib.mjs';
import { openServer } from './open-server.mjs';
import { openService } from './open-service.mjs';
import { scaleEngine } from './scale-engine.mjs';

const CONNECTORS = 10_000;
const PIPELINES = 1_000;
const FEW = 50;
const PAGE = 50;
const ROUNDS = 9;
/** Of a bare route that runs handwritten SQL on the same database. */
const SHARE = 0.7;
/** Of the same request to an organization with few connectors. */
const SHARE_OF_FEW = 0.8;
/** Of the same request with a key whose role has no row, so its permissions are looked up in memory. */
const SHARE_OF_ROLE = 0.9;

/** Fills two organizations, `many` and `few`, and creates a role with a key. */
async function fill({ database, team: many, other: few, parent, app, headers }) {
  const connectors = (organization, count, mark) => `
    insert into connectors (id, organization_id, kind, type, name, description, settings, version, created_at, updated_at)
    select '${mark}-' || n, '${organization}', 'input', 'okta-systemlog', 'Okta ' || n, 'System log of a tenant',
      '{"org_url": "https://acme.okta.com"}', 1, timestamptz '2026-01-01' + n * interval '1 second', now()
    from generate_series(1, ${count}) n;
    insert into secrets (id, organization_id, connector_id, field, name, description, key_id, sealed, created_at, updated_at)
    select c.id || '-key', c.organization_id, c.id, 'api_key', 'api_key', '', k.id, '\\x00', now(), now()
    from connectors c join data_keys k on k.organization_id = c.organization_id where c.organization_id = '${organization}';`;
  const pipelines = `
    insert into pipelines (id, organization_id, name, description, enabled, nodes, edges, version, created_at, updated_at)
    select 'pipeline-' || n, '${many}', 'Pipeline ' || n, '', true,
      jsonb_build_array(jsonb_build_object('id', 'node-' || n, 'slug', 'input', 'component_id', 'many-' || n, 'component_type', 'input')),
      '[]', 1, timestamptz '2026-01-01' + n * interval '1 second', now()
    from generate_series(1, ${PIPELINES}) n;
    insert into pipeline_components (pipeline_id, organization_id, connector_id)
    select 'pipeline-' || n, '${many}', 'many-' || n from generate_series(1, ${PIPELINES}) n;
    insert into pipeline_counts (pipeline_id, minute, nodes)
    select 'pipeline-' || n, date_trunc('minute', now()) - day * interval '1 day', jsonb_build_object('node-' || n,
      '{"type": "input", "ingress": {"bytes": 1, "records": 1}, "egress": {"bytes": 1, "records": 1}, "errors": 0}'::jsonb)
    from generate_series(1, ${PIPELINES}) n, generate_series(0, 9) day;`;
  await database.script((run) =>
    run(`${connectors(many, CONNECTORS, 'many')}${connectors(few, FEW, 'few')}${pipelines}`),
  );
  // As autovacuum would do soon: a planner without statistics guesses.
  await database.queries.$client.query('vacuum analyze');
  const permission_ids = ['input:read', 'pipeline:read', 'pipeline:metrics:read'];
  const create = async (path, body) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await app.request(`http://localhost:4000${path}`, init);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  const role = await create(`/v2/${parent}/roles`, { name: 'Reader of inputs', permission_ids });
  const key = { name: 'bench', role_id: role.id, expiration_time: '2099-01-01T00:00:00Z' };
  return (await create(`/v2/${parent}/api_keys`, key)).token;
}

async function compare(name, { bound, calls, than }, a, b) {
  await a(calls);
  await b(calls);
  const result = await sideBySide(
    ROUNDS,
    () => a(calls),
    () => b(calls),
  );
  const figures = `${result.b.toFixed(2)} ms a call against ${result.a.toFixed(2)} ms, 8 at a time`;
  report(name, `${result.ratio.toFixed(2)} of ${than} (${figures})`, `at least ${bound}`, result.ratio >= bound);
}

/** Measures reads, the start and the memory with many connectors and pipelines on the embedded PostgreSQL. */
export default async function scale() {
  await reads();
  await scaleEngine();
}

async function reads() {
  const { deps, apiKey, team, other, parent, database, close } = await openService();
  try {
    const app = createApp(deps);
    const admin = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const roleKey = await fill({ database, team, other, parent, app, headers: admin });
    const client = database.queries.$client;
    const bare = bareConnectors({
      query: (text, values) => client.query(text, values),
      pipelines: PIPELINES,
      page: PAGE,
    });
    const [served, plain] = await Promise.all([openServer(app), openServer(bare)]);
    const headers = { 'x-api-key': roleKey };
    const on = (server, path, given) => (calls) => server.time(calls, { method: 'GET', path, headers, ...given });
    const againstBare = (name, calls, path) =>
      compare(
        name,
        { bound: SHARE, calls, than: 'a bare route with handwritten SQL' },
        on(plain, path),
        on(served, path),
      );
    const againstFew = (name, calls, path, pathOfFew) =>
      compare(
        name,
        { bound: SHARE_OF_FEW, calls, than: `the same with ${FEW} connectors` },
        on(served, pathOfFew),
        on(served, path),
      );
    try {
      const first = `/v1/${team}/inputs?limit=${PAGE}`;
      const last = `${first}&offset=${CONNECTORS - PAGE}`;
      const one = `/v1/${team}/inputs/many-${CONNECTORS / 2}`;
      const few = `/v1/${other}/inputs?limit=${PAGE}`;
      await againstBare('first page of 10,000 connectors', 100, first);
      await againstFew('first page of 10,000 connectors', 100, first, few);
      await againstBare('last page of 10,000 connectors', 50, last);
      await againstFew('last page of 10,000 connectors', 50, last, few);
      await againstBare('reading one of 10,000 connectors', 300, one);
      await againstFew('reading one of 10,000 connectors', 300, one, `/v1/${other}/inputs/few-${FEW / 2}`);
      await compare(
        'finding the pipeline of one of 10,000 connectors',
        { bound: SHARE_OF_FEW, calls: 300, than: 'reading one that no pipeline uses' },
        on(served, one),
        on(served, `/v1/${team}/inputs/many-${PIPELINES / 2}`),
      );
      await againstBare('statuses of 1,000 pipelines', 20, `/v2/${team}/pipelines/statuses?limit=${PIPELINES}`);
      await againstBare('summary of 1,000 pipelines', 20, `/v2/${team}/pipeline_summary`);
      await compare(
        'permission check of a key with a custom role',
        { bound: SHARE_OF_ROLE, calls: 300, than: 'the check of a key with a default role' },
        on(served, one, { headers: { 'x-api-key': apiKey } }),
        on(served, one),
      );
    } finally {
      served.close();
      plain.close();
    }
  } finally {
    await close();
  }
}
