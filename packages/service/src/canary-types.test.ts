/**
 * S11: sends secrets of every connector type that has code or a poll definition through the whole
 * service. They are saved, changed, tested, and used in a pipeline against a server that echoes
 * everything, with records moved to dead letters. No response, log line, metric, database column or
 * file may contain them, in any of six encodings.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CANARY_HOST, canaryConfigs, type CanaryConfig } from '../../../test/support/canary/canary-configs.js';
import { modes, openEchoWorld, type EchoWorld, type Mode } from '../../../test/support/canary/echo-world.js';
import { databaseBytes, folderBytes } from '../../../test/support/canary/places.js';
import { createCertificate } from '../../../test/support/certificate.js';
import { asWrite, writePath } from '../../../test/support/connectors.js';
import { eachDatabase } from '../../../test/support/databases.js';
import { throughEnrichment } from '../../../test/support/enrichments-api.js';
import { dailyPart, long } from '../../../test/support/long.js';
import { runs } from '../../../test/support/ssrf/targets.js';
import { findLeaks } from '../../../test/support/secret-texts.js';
import { createTestService, type Answer, type Tenant, type TestService } from '../../../test/support/service.js';

const certificate = createCertificate(CANARY_HOST);
const isOutput = ({ type }: CanaryConfig): boolean => type.kind === 'output';
const isPolled = ({ type }: CanaryConfig): boolean => type.poll !== undefined;
/**
 * Without the lookup of a table, which has no secrets and needs an output. The short run takes a part of
 * the types, another one each day, with enough outputs for dead letters; `canary.test.ts` has each that is
 * not polled.
 */
const configs = () => {
  const found = canaryConfigs(certificate).filter(({ name }) => name !== 'enrichment:kv-lookup');
  return [
    ...dailyPart(found.filter(isOutput), 4),
    ...dailyPart(
      found.filter((each) => !isOutput(each) && !isPolled(each)),
      12,
    ),
    ...dailyPart(found.filter(isPolled), 36),
  ];
};
const all = configs();
/** Replacement values for the edit. */
const others = configs();
const modeNamed = (name: string): Mode => {
  const mode = modes.find((each) => each.name === name);
  if (!mode) throw new Error(name);
  return mode;
};
const tested = long ? modes : [modeNamed('403 XML')];
const databases = eachDatabase();

describe.each(databases)('secrets of every type on $name (S11)', (kind) => {
  const answers: string[] = [];
  let service: TestService;
  let acme: Tenant;
  let session: string;
  let world: EchoWorld;
  let folder: string;

  beforeAll(async () => {
    const kafka = [...all, ...others].filter(({ type }) => type.type_id === 'kafka');
    world = await openEchoWorld(kafka.flatMap(({ secrets }) => Object.values(secrets)).join(' '), certificate);
    folder = await mkdtemp(join(tmpdir(), 'canary-types-'));
    service = await createTestService({
      database: await kind.open(),
      egress: world.egress,
      run: { folder, filesFolder: ({ id }) => join(folder, 'files', id) },
    });
    acme = await service.tenant('Northwind');
    session = await service.session(acme);
  });
  afterAll(async () => {
    await service.close();
    await world.close();
    await kind.close();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (method: string, path: string, body?: unknown, byKey = true): Promise<Answer> => {
    const answer = await service.call(method, path, { ...(byKey ? { key: acme.key } : { session }), body });
    answers.push(`${answer.status} ${JSON.stringify([...answer.headers])} ${answer.text}`);
    return answer;
  };

  it('do not appear in responses, logs, metrics, database columns or files', async () => {
    const v2 = `/v2/${acme.team}`;
    const pushed = await call('POST', `${v2}/inputs`, { name: 'Pushed', type: 'monad-http', config: {} });
    const connectors: { path: string; kind: string; id: string; index: number }[] = [];
    for (const [index, { type, name, config }] of all.entries()) {
      const path = writePath(acme.team, type.kind);
      const body = { name: `${index} ${name}`, type: type.type_id, config: asWrite(config) };
      const made = await call('POST', path, body, false);
      expect([name, made.status]).toEqual([name, 200]);
      connectors.push({ path: `${path}/${made.body.id}`, kind: type.kind, id: made.body.id, index });
      // Rejected requests that contain secrets.
      await call('POST', path, { ...body, name: '' }, false);
      await call('POST', path, { ...body, config: { ...body.config, settings: { unknown: 1 } } }, false);
      await call('POST', path, {
        ...body,
        config: { ...body.config, secrets: { unknown: { value: config.secrets } } },
      });
    }

    world.mode = modeNamed('500 text');
    const pipelines: string[] = [];
    const nowhere = await call('POST', `${v2}/outputs`, { name: 'Nowhere', type: 'dev-null', config: {} });
    for (const { kind: end, id, index } of connectors) {
      const ends = end === 'output' ? { input_id: pushed.body.id, output: { id } } : { input_id: id };
      const built =
        end === 'enrichment'
          ? await call('POST', `${v2}/pipelines`, {
              name: `P ${index}`,
              ...throughEnrichment(pushed.body.id, id, nowhere.body.id),
            })
          : await call('POST', `${v2}/integrations`, { name: `P ${index}`, ...ends });
      expect([all[index]?.name, built.status]).toEqual([all[index]?.name, 201]);
      pipelines.push(built.body.pipeline_id ?? built.body.id);
    }
    // With the values that the examples of enrichments look up.
    const found = '"actor":{"id":"u-1"},"source":{"ip":"1.2.3.4"}';
    await service.engine?.append(pushed.body.id, [`{"n":1,${found}}`, '{"n":2}']);
    // Wait until every pipeline with a secret has tried to connect and failed.
    // These responses are not searched, because there are many; those at the end are.
    const states = async () =>
      Promise.all(
        pipelines.map(
          async (id) => (await service.call('GET', `${v2}/pipelines/${id}/status`, { key: acme.key })).body,
        ),
      );
    const dialing = all.flatMap(({ code, secrets }, index) =>
      Object.keys(secrets).length > 0 && !code.receiver && !code.createReceiver && runs(code) ? [index] : [],
    );
    const silent = async () => {
      const found = await states();
      return dialing.filter((index) => !found[index]?.last_error).map((index) => all[index]?.name);
    };
    await expect.poll(silent, { timeout: 60_000, interval: 1_000 }).toEqual([]);

    for (const mode of tested) {
      world.mode = mode;
      // Concurrently: some clients wait seconds for a greeting that an HTTP server never sends.
      await Promise.all(
        connectors.map(async ({ path, id, index }) => {
          const each = all[index];
          if (!each?.code.testConnection) return;
          const at = `${path.slice(0, path.lastIndexOf('/'))}/test-connection`;
          await call('POST', at, { type: each.type.type_id, config: asWrite(each.config) }, false);
          await call('POST', at, { type: each.type.type_id, config: { settings: each.config.settings }, id }, false);
        }),
      );
    }

    // New secrets restart the pipelines. From now on, the server rejects their records permanently.
    world.mode = modeNamed('400 JSON');
    for (const { path, index } of connectors) {
      const change = others[index];
      if (!change) continue;
      const { status } = await call('PATCH', path, { config: { secrets: asWrite(change.config).secrets } }, false);
      expect([change.name, status]).toEqual([change.name, 200]);
    }
    await expect.poll(() => folderBytes(folder).then((bytes) => bytes.includes('dead-letters'))).toBe(true);
    const starting = async () =>
      (await states()).flatMap(({ status }, index) => (status === 'Initializing' ? [all[index]?.name] : []));
    await expect.poll(starting).toEqual([]);

    for (const id of pipelines) {
      for (const about of ['logs?limit=500', 'metrics', 'status']) await call('GET', `${v2}/pipelines/${id}/${about}`);
      await call('GET', `/v1/${acme.team}/pipelines/${id}/dead-letters?limit=100`);
      const { body } = await call('GET', `${v2}/pipelines/${id}`);
      for (const node of body.nodes) await call('GET', `/v1/${acme.team}/data/retry/${id}/${node.id}`);
    }
    for (const { path } of connectors) {
      await call('GET', path.replace('/v2/', '/v1/'), undefined, false);
      await call('GET', path.replace('/v2/', '/v1/'));
    }
    await call('GET', `/v1/${acme.team}/inputs?limit=1000`);
    await call('GET', `/v1/${acme.team}/outputs?limit=1000`);
    await call('GET', '/metrics');

    const places = {
      answers: answers.join('\n'),
      log: service.log.join(''),
      database: await databaseBytes(service),
      files: await folderBytes(folder),
    };
    expect(places.log.length).toBeGreaterThan(10_000);
    expect(places.files.length).toBeGreaterThan(1_000);
    const first = Object.assign({}, ...all.map(({ secrets }) => secrets));
    const second = Object.assign({}, ...others.map(({ secrets }) => secrets));
    expect(findLeaks(first, places)).toEqual([]);
    expect(findLeaks(second, places)).toEqual([]);
    // Control: the search finds the secrets in what the server received.
    expect(findLeaks(first, { sent: world.received() }).length).toBeGreaterThan(20);
    expect(findLeaks(second, { sent: world.received() }).length).toBeGreaterThan(5);
  }, 600_000);
});
