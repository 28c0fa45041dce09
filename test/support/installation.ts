import { expect } from 'vitest';
import { bootstrap } from '../../packages/service/src/bootstrap.js';
import type { Database, Script } from '../../packages/service/src/store/database.js';
import { MOVED_TABLES } from '../../packages/service/src/transfer/moved-tables.js';
import { createBilling } from './billing.js';
import { createEnrichments } from './enrichments-api.js';
import { exampleRule, fillPath, operationsOf, type Ids } from './operations.js';
import { numbersIn } from './output-attempt.js';
import type { Tenant, TestService } from './service.js';
import { signedInUser, storedConnection } from './users.js';
import { startVendor } from './vendor.js';

/** Secrets of an installation, to search for. */
export const installationSecrets = {
  header: 'canary/header "0001" ümlaut+',
  shared: 'canary/shared "0002" ümlaut+',
  syslog: 'canary-of-the-private-key-0003',
};

/** A destination that is down until `up` is set, and refuses some records. */
export async function startDestination(refuses: (n: number) => boolean) {
  const state = { up: false };
  const taken: number[] = [];
  const vendor = await startVendor((request) => {
    const numbers = numbersIn(request);
    if (request.url === '/waiting' && !state.up) return { status: 503 };
    if (request.url === '/refusing' && numbers.some(refuses)) return { status: 400 };
    if (request.url === '/waiting') taken.push(...numbers);
    return { status: 200 };
  });
  return { ...vendor, state, taken };
}

/** An installation with rows in every table, records that wait, and dead letters. */
export interface Installation {
  acme: Tenant;
  operator: string;
  user: string;
  ids: Ids;
  /** Pipeline to a destination that is down, and its input. */
  waiting: { pipeline: string; input: string };
}

/** Fills a new service that runs pipelines. */
export async function fillInstallation(service: TestService, origin: string): Promise<Installation> {
  const { store, vault: secrets, clock } = service;
  const operator = (await bootstrap({ store, secrets, clock }, { organization: 'Operator' })).apiKey;
  const acme = await service.tenant('Northwind');
  const { team, key } = acme;
  const call = (method: string, path: string, body?: object) =>
    service.call(method, path, { key, ...(body && { body }) });
  const make = async (path: string, body: object): Promise<string> => {
    const made = await call('POST', `/v2/${path}`, body);
    if (made.status > 299) throw new Error(`${path}: ${made.text}`);
    return made.body.id ?? made.body.pipeline_id;
  };
  const input = (name: string) => make(`${team}/inputs`, { name, type: 'monad-http', config: {} });
  const pipeline = (input_id: string, path: string) => {
    const settings = { endpoint: origin + path, method: 'POST', payload_structure: 'array' };
    const config = { settings, secrets: { auth_headers: { value: { 'x-key': installationSecrets.header } } } };
    return make(`${team}/integrations`, { input_id, name: path, output: { type: 'http', config } });
  };
  const [inputs, used] = [await input('In'), await input('Used')];
  const waiting = { pipeline: await pipeline(inputs, '/waiting'), input: inputs };
  const pipelines = await pipeline(used, '/refusing');
  await service.engine?.append(
    used,
    Array.from({ length: 10 }, (_, n) => `{"n":${n}}`),
  );
  const letters = async () => (await call('GET', `/v1/${team}/pipelines/${pipelines}/dead-letters`)).body.dead_letters;
  await expect.poll(async () => (await letters())?.length).toBeGreaterThan(0);
  const { body } = await call('GET', `/v2/${team}/pipelines/${pipelines}`);
  const nodes = body.nodes.find((node: { component_type: string }) => node.component_type === 'output').id;
  await call('POST', `/v1/${team}/invites`, { email: 'bo@example.com', role_id: 'reader' });
  const shared = await make(`${acme.id}/outputs`, { name: 'Shared', type: 'dev-null', config: {} });
  const share = { share_organization_ids: [team], share_with_all_new_children: true };
  await call('PATCH', `/v3/${acme.id}/resource_shares/component/${shared}`, share);
  const { token: user, id: userId } = await signedInUser(service, team, 'reader');
  const ids: Ids = {
    users: userId,
    invites: (await call('GET', `/v1/${team}/invites`)).body.invites[0].id,
    connections: await storedConnection(service, team),
    inputs,
    outputs: await make(`${team}/outputs`, { name: 'Out', type: 'dev-null', config: {} }),
    pipelines,
    nodes,
    edges: body.edges[0].id,
    'dead-letters': (await letters())[0].id,
    transforms: await make(`${team}/transforms`, { name: 'T', config: { operations: [] } }),
    secrets: await make(`${team}/secrets`, { name: 'S', value: { 'x-key': installationSecrets.shared } }),
    roles: await make(`${team}/roles`, { name: 'R', permission_ids: ['input:read'] }),
    organizations: team,
    resource_shares: shared,
    ...(await createEnrichments(service, team, key)),
    alert_rules: (await call('POST', `/v3/${team}/alert_rules`, exampleRule)).body.id,
    ...(await createBilling(call, team)),
  };
  const apiKey = { role_id: 'reader', name: 'K', expiration_time: '2099-01-01T00:00:00Z' };
  ids['api_keys'] = ids['api-keys'] = await make(`${team}/api_keys`, apiKey);
  await service.call('PUT', `/v3/feature_flags/node_data/organizations/${team}`, {
    key: operator,
    body: { enabled: true },
  });
  return { acme, operator, user, ids, waiting };
}

/** Operations whose responses depend on the time or on what runs, beside those of metrics. */
const CHANGING =
  /metrics|series|bytes|records|status|usage|activity|statement|cost|summar|storageType|^listAlerts$|^readPipelineLog$/i;

/** Returns the responses of all operations that read what an organization has. */
export async function responsesOf(service: TestService, installation: Installation): Promise<Map<string, string>> {
  const { acme, operator, user, ids } = installation;
  const responses = new Map<string, string>();
  for (const operation of await operationsOf(service.app)) {
    if (operation.method !== 'GET' || operation.isPublic || operation.isStream) continue;
    if (CHANGING.test(operation.id) || operation.params.length === 0) continue;
    const path = fillPath(operation, { org: acme.team, parent_org: acme.id }, ids);
    const caller = operation.isOperator ? { key: operator } : { key: acme.key };
    let answer = await service.call('GET', path, caller);
    if (answer.status === 403) answer = await service.call('GET', path, { user });
    // Counted and stored until the service has closed.
    const text = answer.text.replaceAll(/"current_usage(?:_updated_at)?":(?:"[^"]+"|[\d.]+)/g, '');
    responses.set(operation.id, `${answer.status} ${text}`);
  }
  return responses;
}

/** Returns the responses that differ, by operation. */
export const differencesOf = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Record<string, unknown> =>
  Object.fromEntries(
    [...new Set([...before.keys(), ...after.keys()])]
      .filter((id) => before.get(id) !== after.get(id))
      .map((id) => [id, { before: before.get(id)?.slice(0, 2_000), after: after.get(id)?.slice(0, 2_000) }]),
  );

/**
 * Inserts a row into each moved table that has none, so that every table is tested, also a future
 * one. Values are the simplest that the schema accepts.
 */
export async function fillEmptyTables(database: Database): Promise<void> {
  await database.script(async (run) => {
    let empty: string[] = [];
    for (const [table, decision] of Object.entries(MOVED_TABLES))
      if (decision === 'move' && (await countOf(table, run)) === 0) empty.push(table);
    while (empty.length > 0) {
      const left: string[] = [];
      for (const table of empty) if (!(await insertSimplest(table, run))) left.push(table);
      if (left.length === empty.length) throw new Error(`No row for ${left.join(', ')}.`);
      empty = left;
    }
  });
}

export const countOf = async (table: string, run: Script): Promise<number> =>
  Number((await run(`select count(*) as n from ${table}`))[0]?.['n']);

/** Values that checks and responses need, by table and column. */
const VALUES: Record<string, string> = {
  'alerts.severity': `'high'`,
  'alerts.resource_type': `'pipeline'`,
};

const BY_TYPE: Record<string, string> = {
  integer: '1',
  bigint: '1',
  boolean: 'true',
  jsonb: `'{}'`,
  bytea: `'\\x00ff27'`,
  ARRAY: `'{a}'`,
  'timestamp with time zone': `'2026-01-02T03:04:05.678Z'`,
};

/** Returns whether it inserted a row: not if a table that it refers to has none yet. */
async function insertSimplest(table: string, run: Script): Promise<boolean> {
  const columns = await run(
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = 'public' and table_name = '${table}' and is_identity = 'NO'
       and (is_nullable = 'NO' or column_name in ('organization_id', 'connector_id'))`,
  );
  const references = await run(
    `select a.attname as name, c.confrelid::regclass::text as table, f.attname as column
     from pg_constraint c
     join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     join pg_attribute f on f.attrelid = c.confrelid and f.attnum = c.confkey[1]
     where c.contype = 'f' and c.conrelid = '${table}'::regclass`,
  );
  const values: string[] = [];
  for (const { name, type } of columns) {
    const reference = references.find((each) => each['name'] === name);
    if (reference && (await countOf(String(reference['table']), run)) === 0) return false;
    values.push(
      reference
        ? `(select ${String(reference['column'])} from ${String(reference['table'])} limit 1)`
        : (VALUES[`${table}.${String(name)}`] ?? BY_TYPE[String(type)] ?? `'a ''text'' \\ 漢'`),
    );
  }
  await run(
    `insert into ${table} (${columns.map(({ name }) => `"${String(name)}"`).join(', ')}) values (${values.join(', ')})`,
  );
  return true;
}
