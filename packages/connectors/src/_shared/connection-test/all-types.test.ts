import { exampleConfig } from '@connector-frame/catalog';
import { validateConfig } from '@connector-frame/catalog/validate';
import { expect, test } from 'vitest';
import { awsRoles as aws } from '../../../../../test/support/aws-roles.js';
import {
  replaceKeyFiles,
  typeOf,
  undeclaredFields,
  withoutCertificates,
  withPrivateKeys,
} from '../../../../../test/support/declared-fields.js';
import { createEgress } from '@connector-frame/engine/egress';
import { registry } from '../../registry.js';
import type { Tester } from '@connector-frame/engine/connector-api';

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

/** Every name resolves to a closed address, so each test ends before its first connection. */
const closed = createEgress({ allow: [], lookup: () => Promise.resolve(['10.0.0.1']) });

const testers = [...registry].flatMap(([name, { testConnection }]): [string, Tester][] =>
  testConnection ? [[name, testConnection]] : [],
);

/** Their tests read files or the database, and connect to nothing. */
const local = new Set(['cidr', 'csv-table', 'geoip', 'geolocus', 'kv-lookup'].map((typeId) => `enrichment:${typeId}`));

test.each(testers)('%s connects with the fields that the catalog declares', async (name, tester) => {
  const { config: schema } = typeOf(name);
  for (const choice of choices) {
    const config = exampleConfig(schema, { optional: true, choices: new Map([...choice, ...(always[name] ?? [])]) });
    expect(validateConfig(schema, config)).toEqual([]);
    replaceKeyFiles(config);
    // The connection tests do not cover these features.
    delete config.settings['entra_service_principal_auth'];
    delete config.settings['ssl_mode'];
    for (const pem of ['ca_certificate', 'client_certificate', 'client_key']) delete config.secrets[pem];
    config.settings = withoutCertificates(config.settings);
    config.secrets = withPrivateKeys(config.secrets);
    // Snowflake's output inserts without a stage.
    delete config.settings['stage'];
    const outcome = await tester(config, { egress: closed, aws, signal: new AbortController().signal });
    expect(outcome).toMatchObject({ ok: false, ...(!local.has(name) && { reason: 'egress_refused' }) });
    expect(undeclaredFields(name, outcome)).toEqual([]);
  }
});
