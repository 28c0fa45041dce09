/**
 * Starts the service, and runs Schemathesis against it: calls that are derived from the document,
 * valid and invalid ones. Run it in a network namespace of its own, because connection tests connect
 * to the addresses in the calls. Prints the end of Schemathesis's report, or what it found.
 *
 * Arguments: the program `st`, a folder, the number of calls per operation and phase, the seed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [program, folder, calls, seed] = process.argv.slice(2);
const main = fileURLToPath(new URL('../../../packages/service/dist/main.js', import.meta.url));
const key = 'a'.repeat(64);
const off = ['KEY', 'ORGANIZATION', 'ADDRESS', 'TEST_KEY', 'TEST_TYPE', 'TEST_ORGANIZATION'];

const service = spawn(process.execPath, [main], {
  env: {
    PATH: process.env.PATH,
    DATA_DIR: join(folder, 'data'),
    SERVICE_PORT: '4000',
    SERVICE_API_KEY: key,
    BOOTSTRAP_ORGANIZATION: 'Northwind',
    ...Object.fromEntries(off.map((name) => [`RATE_LIMIT_${name}`, 'off'])),
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const log = join(folder, 'service.log');
const ready = new Promise((resolve, reject) => {
  service.stdout.on('data', (chunk) => {
    appendFileSync(log, chunk);
    if (readFileSync(log, 'utf8').includes('service started')) resolve();
  });
  service.once('exit', () => reject(new Error('The service did not start.')));
});

async function call(method, path, body) {
  const response = await fetch(`http://localhost:4000${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Creates one resource of each kind, so that calls reach more than 404. Returns their IDs by segment of the path. */
async function createResources(org) {
  const config = { settings: { org_url: 'https://acme.okta.com' }, secrets: { api_key: { value: 'x'.repeat(30) } } };
  const input = await call('POST', `/v2/${org}/inputs`, { name: 'Okta', type: 'okta-systemlog', config });
  const output = await call('POST', `/v2/${org}/outputs`, { name: 'Nowhere', type: 'dev-null' });
  const operations = [{ operation: 'drop_key', arguments: { key: 'raw' } }];
  const transform = await call('POST', `/v2/${org}/transforms`, { name: 'Drop', config: { operations } });
  const nodes = [
    { slug: 'in', component_id: input.id, component_type: 'input' },
    { slug: 'out', component_id: output.id, component_type: 'output' },
  ];
  const edges = [{ from_node_instance_id: 'in', to_node_instance_id: 'out' }];
  const pipeline = await call('POST', `/v2/${org}/pipelines`, { name: 'P', nodes, edges });
  const secret = await call('POST', `/v2/${org}/secrets`, { name: 'S', value: 'x'.repeat(30) });
  const role = await call('POST', `/v2/${org}/roles`, { name: 'R', permission_ids: ['pipeline:read'] });
  const team = await call('POST', `/v3/${org}/organizations`, { name: 'Team' });
  const address = { url: 'https://acme.example/{key}', join_path: 'id', destination_path: 'user' };
  const lookup = { settings: address, secrets: {} };
  const enrichment = await call('POST', `/v3/${org}/enrichments`, { name: 'E', type: 'http-lookup', config: lookup });
  const table = { name: 'Users', type: 'kv-lookup', config: { settings: { key_field: 'id' } } };
  const keyValues = await call('POST', `/v2/${org}/outputs`, table);
  const rule = await call('POST', `/v3/${org}/alert_rules`, {
    name: 'Errors',
    type: 'threshold-alert',
    severity: 'high',
    rule_config: {
      settings: {
        metric_config: { type: 'errors', errors: { threshold: 10 } },
        operator: 'greater_than',
        time_window: '5m',
      },
    },
  });
  const account = await call('POST', '/v2/billing/accounts', { name: 'A', billing_email: 'a@acme.example' });
  const product = await call('POST', '/v2/billing/products', { slug: 'plan', name: 'Plan' });
  const roles = `/v2/billing/accounts/${account.id}/roles`;
  const billingRole = await call('POST', roles, { name: 'R', permissions: ['quota:read'] });
  await call('POST', `${roles}/${billingRole.id}/users`, { user_email: 'u@acme.example' });
  const [billingUser] = (await call('GET', `${roles}/${billingRole.id}`)).users;
  return {
    inputs: { id: input.id },
    outputs: { id: output.id },
    transforms: { id: transform.id, type_id: 'drop_key' },
    pipelines: { id: pipeline.id, node: pipeline.nodes[1].id, edge: pipeline.edges[0].id },
    secrets: { id: secret.id },
    roles: { id: role.id },
    organizations: { id: team.id },
    enrichments: { id: enrichment.id },
    kv_lookup: { 'query.component_id': keyValues.id },
    alert_rules: { id: rule.id },
    accounts: { id: account.id, billing_role: billingRole.id, billing_user: billingUser.id },
    products: { id: product.id },
    component: { resource_type: 'component', resource_id: output.id },
  };
}

/** Writes a configuration that fills in the IDs in the paths of calls that do not delete. */
function writeConfig(org, resources) {
  const lines = ['[parameters]', `"path.org" = "${org}"`, `"path.parent_org" = "${org}"`];
  for (const [segment, parameters] of Object.entries(resources)) {
    const path = segment === 'component' ? 'resource_shares' : segment;
    lines.push('', '[[operations]]', `include-path-regex = "/${path}/"`);
    lines.push('include-method = ["GET", "POST", "PUT", "PATCH"]', '[operations.parameters]');
    for (const [name, value] of Object.entries(parameters))
      lines.push(`"${name.includes('.') ? name : `path.${name}`}" = "${value}"`);
  }
  // Schemathesis does not know 412: the ETag of the documented example is an old one.
  const rejections = [400, 401, 403, 404, 409, 412, 413, 415, 422, 429].map((status) => `"${status}"`);
  lines.push('', '[checks.negative_data_rejection]', `expected-statuses = [${rejections.join(', ')}]`);
  // A preview reports what is wrong with the body of a PUT instead of rejecting it.
  lines.push('', '[[operations]]', 'include-path-regex = "/preview$"');
  lines.push('[operations.checks]', 'negative_data_rejection.enabled = false');
  writeFileSync(join(folder, 'schemathesis.toml'), lines.join('\n'));
}

/**
 * Writes the document without
 * - the other ways to authenticate: Schemathesis would send two credentials at once
 * - Idempotency-Key: its few values would replay responses about resources that were deleted since
 * - the streams, which do not end
 */
async function writeDocument() {
  const document = await call('GET', '/openapi.json');
  for (const methods of Object.values(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      operation.security = operation.security.slice(0, 1);
      operation.parameters = operation.parameters?.filter(({ $ref }) => !$ref?.endsWith('/IdempotencyKey'));
      const isStream = Object.values(operation.responses).some(({ content }) => content?.['text/event-stream']);
      if (isStream) delete methods[method];
    }
  }
  for (const [path, methods] of Object.entries(document.paths))
    if (Object.keys(methods).length === 0) delete document.paths[path];
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
}

mkdirSync(folder, { recursive: true });
await ready;
const { organization_id: org } = await call('GET', '/v3/api-keys/current');
writeConfig(org, await createResources(org));
await writeDocument();

// - What a valid value means depends on stored resources, so that 400, 404 and 422 are right answers to
//   values that match the schema.
// - A path of a method can match the pattern of another path, so that its other methods are 404
//   instead of 405; conventions.test.ts checks 405.
// - An ID of the configuration counts as that of a resource that was just created.
const excluded = 'positive_data_acceptance,unsupported_method,ensure_resource_availability';
const words = ['--exclude-checks', excluded, '--continue-on-failure', '--warnings', 'off'];
const checker = spawn(
  program,
  ['run', 'openapi.json', '--url', 'http://localhost:4000', '-H', `x-api-key: ${key}`, ...words]
    .concat(['--request-timeout', '30', '--max-examples', calls, '--seed', seed, '--no-color'])
    .concat(['--exclude-operation-id', 'revokeApiKey', '--exclude-operation-id', 'revokeRoleKey']),
  { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, COLUMNS: '120' } },
);
let output = '';
for (const stream of [checker.stdout, checker.stderr])
  stream.setEncoding('utf8').on('data', (text) => (output += text));
const [code] = await once(checker, 'exit');
service.removeAllListeners('exit');
service.kill();
await once(service, 'exit');
const failures = output.slice(Math.max(0, output.indexOf('= FAILURES =')), output.length);
if (code === 0) console.log(output.slice(-1_200));
else console.error(failures.slice(0, 12_000) + output.slice(-1_200));
const internal = readFileSync(log, 'utf8').match(/"level":"error"[^\n]*/g) ?? [];
if (internal.length > 0) console.error(`The service logged errors:\n${internal.slice(0, 20).join('\n')}`);
process.exitCode = internal.length > 0 ? 1 : code;
