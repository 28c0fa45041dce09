/**
 * The files in deploy/ agree with the service: its variables, ports, versions and secrets. The tools
 * that read these files check them in the long run: deploy-tools.test.ts.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, describe, expect, it } from 'vitest';
import { readEnv } from '../../packages/service/src/env.js';
import { SECRET_VARIABLES } from '../../packages/service/src/secret-files.js';
import { readWorkerEnv } from '../../packages/service/src/worker-env.js';
import {
  chart,
  composeFile,
  deploy,
  imageSettings,
  instructionsOf,
  natsFile,
  textOf,
  workersFile,
  yamlOf,
  type ComposeService,
} from '../support/deploy/files.js';

const root = join(deploy, '..');
const { version, engines }: { version: string; engines: { node: string } } = JSON.parse(
  textOf(join(root, 'packages/service/package.json')),
);
/** The variables of the service, from its source. */
const variables = [...textOf(join(root, 'packages/service/src/env.ts')).matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(
  ([, name = '']) => name,
);

describe('the image', () => {
  const settings = imageSettings();

  it('runs the service as a user that is not root, with its data in the only volume', () => {
    expect(settings.user).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
    expect(settings.entrypoint).toEqual(['node', '/app/packages/service/dist/main.js']);
    expect(settings.env['DATA_DIR']).toMatch(new RegExp(`^${settings.volume}/`));
    const env = readEnv(settings.env);
    expect([env.SERVICE_HOST, env.SERVICE_PORT]).toEqual(['0.0.0.0', Number(settings.port)]);
    for (const name of Object.keys(settings.env)) expect([...variables, 'NODE_ENV']).toContain(name);
  });

  it('is built on a pinned release of Node.js that the service supports', () => {
    expect(settings.nodeVersion).toMatch(/^\d+\.\d+\.\d+$/);
    const [, minimum = ''] = /^>=(\d+)\./.exec(engines.node) ?? [];
    const major = Number(settings.nodeVersion.split('.')[0]);
    expect(major).toBeGreaterThanOrEqual(Number(minimum));
    // Only even releases get security updates for years.
    expect(major % 2).toBe(0);
    const bases = instructionsOf(`${deploy}Dockerfile`).filter(({ name }) => name === 'FROM');
    for (const { words } of bases) expect(words).toMatch(/^node:\$\{NODE_VERSION\}-bookworm-slim( AS build)?$/);
  });
});

const secretTexts: Record<string, string> = {
  'database-url': 'postgres://connector:password@database:5432/connector\n',
  'master-key': `${'ab'.repeat(32)}\n`,
  'metrics-token': `${'cd'.repeat(16)}\n`,
  'nats-url': 'nats://connector:password@nats:4222\n',
  'service-api-key': `${'ef'.repeat(32)}\n`,
};

function expectConfined(service: ComposeService): void {
  expect(service).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    restart: 'unless-stopped',
    deploy: {
      resources: {
        limits: { cpus: expect.any(String), memory: expect.stringMatching(/^\d+[mg]$/), pids: expect.any(Number) },
      },
    },
  });
  expect(service.image).toMatch(/:(?:\d+\.\d+(?:\.\d+)?-\w+|local)$/);
}

/** Returns the variables of a service, with the files of its secrets written to a folder. */
function variablesOf(
  file: { secrets: Record<string, { file: string }> },
  { environment = {}, secrets = [] }: ComposeService,
  folder: string,
): Record<string, string> {
  const given = Object.entries(environment).map(([name, value]): [string, string] => {
    const [, secret] = /^\/run\/secrets\/(.+)$/.exec(String(value)) ?? [];
    if (secret === undefined) return [name, String(value)];
    expect(secrets).toContain(secret);
    expect(file.secrets[secret]?.file).toBe(`./secrets/${secret}`);
    writeFileSync(join(folder, secret), secretTexts[secret] ?? '');
    return [name, join(folder, secret)];
  });
  const known = [...variables, ...SECRET_VARIABLES.map((name) => `${name}_FILE`)];
  for (const [name] of given) expect(known).toContain(name);
  return { ...imageSettings().env, ...Object.fromEntries(given) };
}

describe('compose.yaml', () => {
  const file = composeFile({ PUBLIC_URL: 'https://connect.example' });
  const { proxy, engine, replica, database } = file.services;
  const folder = mkdtempSync(join(tmpdir(), 'compose-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(Object.entries(file.services))('confines %s', (_name, service) => expectConfined(service));

  it('opens ports of the proxy only, on this machine only, and the database to the service only', () => {
    const open = Object.entries(file.services).filter(([, { ports }]) => ports !== undefined);
    expect(open.map(([name]) => name)).toEqual(['proxy']);
    for (const port of proxy.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    expect(database.networks).toEqual(['data']);
    expect(file.networks.data.internal).toBe(true);
    expect(proxy.networks).toEqual(['front']);
  });

  it('refuses to start without PUBLIC_URL', () => {
    expect(() => composeFile({})).toThrow('PUBLIC_URL is not set');
  });

  it.each([
    ['engine', engine, 'on'],
    ['replica', replica, 'off'],
  ])('gives the %s an environment that the service accepts', (_name, service, isOn) => {
    const env = readEnv(variablesOf(file, service, folder));
    expect(env).toMatchObject({ ENGINE: isOn, PUBLIC_URL: 'https://connect.example' });
    expect(env.DATABASE_URL).toBe(secretTexts['database-url']?.trim());
    expect(env.MASTER_KEY).toBeDefined();
    expect(env.TRUST_PROXY).toEqual([file.networks.front.ipam.config[0]?.subnet]);
  });

  it('forwards the ports of the service, and each syslog port to the same port of the engine', () => {
    const config = textOf(`${deploy}haproxy.cfg`);
    const servers = [...config.matchAll(/^ {2}server(?:-template \w+ \d+)? (?:engine )?(\S+?):(\d+)/gm)];
    expect(new Set(servers.map(([, host]) => host))).toEqual(new Set(['engine', 'replica']));
    for (const [, , port] of servers) expect(port).toBe(imageSettings().port);
    const range = String(engine.environment?.['SYSLOG_PORTS']);
    expect(proxy.ports?.map((port) => port.split(':').slice(1).join(':'))).toEqual(['8080:8080', `${range}:${range}`]);
    expect(config).toContain(`bind :${range}\n`);
    expect(config).toContain('bind :8080\n');
  });
});

describe('compose.workers.yaml', () => {
  const file = workersFile({ PUBLIC_URL: 'https://connect.example' });
  const { proxy, service, worker, database } = file.services;
  const folder = mkdtempSync(join(tmpdir(), 'compose-workers-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(Object.entries(file.services))('confines %s', (_name, each) => expectConfined(each));

  it('opens ports of the proxy only, on this machine only, and the database to service and workers only', () => {
    const open = Object.entries(file.services).filter(([, { ports }]) => ports !== undefined);
    expect(open.map(([name]) => name)).toEqual(['proxy']);
    for (const port of proxy.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    expect([database.networks, proxy.networks]).toEqual([['data'], ['front']]);
    expect(file.networks.data.internal).toBe(true);
    expect(database).toEqual({
      ...composeFile({ PUBLIC_URL: 'https://connect.example' }).services.database,
      deploy: database.deploy,
    });
  });

  it('starts a replica without an engine, and two workers that keep nothing and have no key of the API', () => {
    const env = readEnv(variablesOf(file, service, folder));
    expect(env).toMatchObject({ ENGINE: 'off', BOOTSTRAP_ORGANIZATION: 'Operator' });
    expect(worker.deploy.replicas).toBe(2);
    expect(worker.entrypoint?.join(' ')).toMatch(/^node \/app\/packages\/service\/dist\/worker-main\.js$/);
    expect(worker.secrets).toEqual(['database-url', 'master-key', 'metrics-token']);
    for (const { volumes } of [service, worker])
      expect(volumes).toEqual([expect.objectContaining({ type: 'tmpfs', target: imageSettings().volume })]);
    const { env: own, unused } = readWorkerEnv(variablesOf(file, worker, folder));
    expect(unused).toEqual([]);
    expect(own).toMatchObject({ ENGINE: 'shared', SYSLOG_HOST: '0.0.0.0', PUBLIC_URL: 'https://connect.example' });
    expect([own.DATABASE_URL, own.MASTER_KEY?.id]).toEqual([env.DATABASE_URL, env.MASTER_KEY?.id]);
  });

  it('forwards requests to the replicas, and each syslog port to the same port of the workers', () => {
    const config = textOf(`${deploy}haproxy.workers.cfg`);
    const range = String(worker.environment?.['SYSLOG_PORTS']);
    expect(config).toContain(`server-template service 8 service:${imageSettings().port}\n`);
    expect(config).toContain(`server-template worker 8 worker check port ${imageSettings().port}\n`);
    expect(config).toContain(`bind :${range}\n`);
    expect(proxy.ports?.map((port) => port.split(':').slice(1).join(':'))).toEqual(['8080:8080', `${range}:${range}`]);
  });
});

describe('compose.nats.yaml', () => {
  const file = natsFile({ PUBLIC_URL: 'https://connect.example' });
  const { service, worker, nats } = file.services;
  const folder = mkdtempSync(join(tmpdir(), 'compose-nats-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('confines NATS, which only the service and the workers reach', () => {
    expectConfined(nats);
    expect([nats.networks, nats.ports]).toEqual([['data'], undefined]);
  });

  it('gives the service and the workers its address, and keeps what they have', () => {
    const { services } = workersFile({ PUBLIC_URL: 'https://connect.example' });
    const env = readEnv(variablesOf(file, service, folder));
    const { env: own, unused } = readWorkerEnv(variablesOf(file, worker, folder));
    expect([env.NATS_URL, own.NATS_URL]).toEqual(Array(2).fill(secretTexts['nats-url']?.trim()));
    expect([env.ENGINE, unused]).toEqual(['off', []]);
    expect(new URL(String(env.NATS_URL)).hostname in file.services).toBe(true);
    for (const [now, before] of [
      [service, services.service],
      [worker, services.worker],
    ] as const)
      expect([now.entrypoint, now.secrets]).toEqual([before.entrypoint, [...(before.secrets ?? []), 'nats-url']]);
  });
});

describe('the chart', () => {
  const {
    $schema: _draft,
    ...schema
  }: {
    $schema: string;
    properties: {
      env: { propertyNames: { anyOf: [{ enum: string[] }] } };
      secret: { properties: { keys: { items: { enum: string[] } } } };
    };
  } = JSON.parse(textOf(`${chart}values.schema.json`));
  const values = yamlOf(`${chart}values.yaml`) as object;
  const validate = new Ajv({ strict: false }).compile(schema);
  const required = {
    publicUrl: 'https://connect.example',
    secret: { name: 'connector-frame', keys: SECRET_VARIABLES },
  };

  it('has the version of the packages', () => {
    expect(yamlOf(`${chart}Chart.yaml`)).toMatchObject({ version, appVersion: version });
  });

  it('has values that it accepts once the required ones are set, and refuses unknown ones', () => {
    expect(validate(values)).toBe(false);
    expect(validate({ ...values, ...required }), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...values, ...required, replicaCount: 2 })).toBe(false);
    expect(validate({ ...values, ...required, env: { LOG_LEVEL: 'debug', OTEL_SERVICE_NAME: 'x' } })).toBe(true);
    expect(validate({ ...values, ...required, env: { LOG_LEVLE: 'debug' } })).toBe(false);
    // A secret must not be in the values, which Helm stores.
    expect(validate({ ...values, ...required, env: { MASTER_KEY: 'x' } })).toBe(false);
    expect(validate({ ...values, ...required, secret: { name: 'x', keys: ['DATABASE_URL'] } })).toBe(false);
    // Workers serve no API.
    const workers = { ...values, ...required, workers: { count: 2 } };
    expect([0, 1].map((count) => validate({ ...workers, replicas: { count } }))).toEqual([false, true]);
  });

  it('knows every variable of the service: as a secret, as a variable, or because it sets it', () => {
    const templates = textOf(`${chart}templates/_pod.tpl`);
    const set = [...templates.matchAll(/- \{ name: ([A-Z_]+),/g)].map(([, name = '']) => name);
    const free = schema.properties.env.propertyNames.anyOf[0].enum;
    expect(schema.properties.secret.properties.keys.items.enum).toEqual([...SECRET_VARIABLES]);
    const image = Object.keys(imageSettings().env).filter((name) => name !== 'NODE_ENV');
    // A new variable belongs in `env` of values.schema.json, or in `secret` if it is one. Other programs
    // or another form would need another image.
    const known = new Set([...set, ...free, ...SECRET_VARIABLES, ...image, 'FORM_DIR', 'POSTGRES_PREVIOUS']);
    expect([...known].toSorted()).toEqual(variables.toSorted());
  });
});
