import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exampleConfig } from '@connector-frame/catalog';
import { expect, onTestFinished, test } from 'vitest';
import {
  replaceKeyFiles,
  typeOf,
  withoutCertificates,
  withPrivateKeys,
} from '../../../../test/support/declared-fields.js';
import { awsRoles as aws } from '../../../../test/support/aws-roles.js';
import { attempt, hurriedClock, noted } from '../../../../test/support/output-attempt.js';
import { createEgress } from '@connector-frame/engine/egress';
import { registry } from '../registry.js';

/** Every name resolves to a closed address, so each test ends before its first connection. */
const egress = createEgress({ allow: [], lookup: () => Promise.resolve(['10.0.0.1']) });

/** One entry for each authentication method that a type offers. */
const choices = [
  [],
  [['/settings/auth_config/type', 'bot_token'] as const],
  [['/settings/auth_config/type', 'password'] as const, ['/settings/connection_config/type', 'cloud_id'] as const],
];
/** Choices without which a type has no credentials. */
const always: Readonly<Record<string, (readonly [string, string])[]>> = {
  'output:scanner': [['/settings/auth/type', 'static_credentials']],
};
/** Outputs that write nothing, or only to this machine. */
const local = new Set(['output:dev-null', 'output:file', 'output:kv-lookup']);
const table = { get: () => Promise.resolve(new Map<string, string>()), put: () => Promise.resolve() };
const keyValues = { own: table, of: () => table };

const outputs = [...registry].flatMap(([name, { createOutput }]) =>
  createOutput ? [[name, createOutput] as const] : [],
);

test.each(outputs)(
  '%s runs with the fields that the catalog declares, and connects through the egress guard',
  async (name, create) => {
    const type = typeOf(name);
    const filesFolder = await mkdtemp(join(tmpdir(), 'outputs-'));
    onTestFinished(() => rm(filesFolder, { recursive: true, force: true }));
    for (const choice of choices) {
      const config = exampleConfig(type.config, {
        optional: true,
        choices: new Map([...choice, ...(always[name] ?? [])]),
      });
      replaceKeyFiles(config);
      // The example certificates are not valid PEM.
      for (const pem of ['ca_certificate', 'client_certificate', 'client_key']) delete config.secrets[pem];
      config.settings = withoutCertificates(config.settings);
      config.secrets = withPrivateKeys(config.secrets);
      // Snowflake's output inserts without a stage.
      delete config.settings['stage'];
      const output = create(config, { type, egress, clock: hurriedClock(), filesFolder, keyValues, aws });
      const { failure } = await attempt(output, noted(1));
      if (local.has(name)) expect(failure).toBeUndefined();
      else expect(failure).toMatchObject({ code: 'egress_refused', kind: 'permanent' });
      await output.close?.();
    }
  },
);

const enrichments = [...registry].flatMap(([name, { createEnrichment }]) =>
  createEnrichment ? [[name, createEnrichment] as const] : [],
);

test.each(enrichments)('%s runs with the fields that the catalog declares', async (name, create) => {
  const type = typeOf(name);
  for (const optional of [false, true]) {
    const config = exampleConfig(type.config, { optional });
    const lookupFolders = ['/nonexistent'];
    const made = create(config, { type, egress, clock: hurriedClock(), keyValues, lookupFolders });
    expect([made.joinPath.length > 0, made.destination.length > 0]).toEqual([true, true]);
    expect(JSON.stringify(made.example).length).toBeGreaterThan(10);
    await made.close?.();
  }
});
