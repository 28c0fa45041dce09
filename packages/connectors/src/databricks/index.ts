import {
  ConnectorError,
  systemClock,
  type ConnectorCode,
  type Tester,
  type TestOutcome,
} from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import { auditStatement, createAuditInput } from './audit-input.js';
import { DatabricksClient, readDatabricks } from './client.js';
import { createDatabricksOutput, readWriteMode } from './output.js';

function createDatabricksTester(
  check: (
    client: DatabricksClient,
    host: string,
    settings: Record<string, unknown>,
    signal: AbortSignal,
  ) => Promise<string>,
): Tester {
  return createTester(
    { product: 'Databricks', address: '/settings/server_hostname' },
    async (config, { egress, signal }) => {
      const target = readDatabricks(config);
      try {
        const summary = await check(
          new DatabricksClient(target, egress, systemClock),
          target.host,
          config.settings,
          signal,
        );
        return passed(summary);
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        return outcomeOf(error);
      }
    },
  );
}

function outcomeOf({ code, message }: ConnectorError): TestOutcome {
  switch (code) {
    case 'invalid_credentials':
      return failed('invalid_credentials', message, { at: ['/secrets/client_id', '/secrets/client_secret'] });
    case 'not_found':
    case 'dns_failed':
    case 'connect_failed':
    case 'egress_refused':
    case 'tls_failed':
    case 'redirected':
    case 'timeout':
      return failed(code, message, { at: '/settings/server_hostname' });
    case 'invalid_config':
      return failed('unsupported', message, { at: '/settings/write_mode' });
    case 'forbidden':
    case 'rate_limited':
    case 'upstream_error':
    case 'rejected':
      return failed(code, message);
    default:
      return failed('unexpected_answer', message);
  }
}

const testOutput = createDatabricksTester(async (client, host, settings, signal) => {
  const mode = readWriteMode(settings);
  const [catalog, schema] = ['catalog', 'schema'].map((key) => encodeURIComponent(text(settings, key) ?? ''));
  if (mode.kind === 'files') {
    const url = `https://${host}/api/2.0/fs/directories/Volumes/${catalog}/${schema}/${encodeURIComponent(mode.volume)}`;
    await client.send({ method: 'HEAD', url }, signal);
    return 'Signed in, and found the volume';
  }
  const name = `${catalog}.${schema}.${encodeURIComponent(mode.table)}`;
  await client.send({ method: 'GET', url: `https://${host}/api/2.1/unity-catalog/tables/${name}` }, signal);
  return 'Signed in, and found the table';
});

/** The same code serves the three types. */
export const databricksOutput: ConnectorCode = { testConnection: testOutput, createOutput: createDatabricksOutput };

export const databricksAuditInput: ConnectorCode = {
  testConnection: createDatabricksTester(async (client, _host, settings, signal) => {
    const parameters = [
      { name: 'time', value: '0', type: 'BIGINT' as const },
      { name: 'id', value: '', type: 'STRING' as const },
    ];
    await client.statement(text(settings, 'http_path') ?? '', auditStatement(settings, 0), parameters, signal);
    return 'Signed in, and may read the audit log';
  }),
  createInput: createAuditInput,
};
