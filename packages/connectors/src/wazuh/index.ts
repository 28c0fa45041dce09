import { type ConnectorCode, type TestOutcome } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { missing, passed } from '../_shared/connection-test/outcome.js';
import { invalidConfig } from '../_shared/output/send.js';
import { at, json, text } from '../_shared/read.js';
import { createBulkOutput, type Cluster } from '../elasticsearch/bulk-output.js';

const wazuh: Subject = { product: 'the Wazuh indexer', address: '/settings/url', credential: '/secrets/password' };

type Fields = { settings: Record<string, unknown>; secrets: Record<string, unknown> };

/** Reads the fields, or returns the field that is missing. */
function readCluster({
  settings,
  secrets,
}: Fields): (Cluster & { authorization: string }) | { missing: string; message: string } {
  const [url, index] = [text(settings, 'url'), text(settings, 'index')];
  const [user, password] = [text(settings, 'username'), text(secrets, 'password')];
  if (!url || !URL.canParse(url)) return { missing: '/settings/url', message: 'Enter the address of the indexer.' };
  if (!index) return { missing: '/settings/index', message: 'Enter an index.' };
  if (!user) return { missing: '/settings/username', message: 'Enter a user name.' };
  if (!password) return { missing: '/secrets/password', message: 'Enter a password.' };
  const ca = text(secrets, 'ca_certificate');
  return {
    product: 'The Wazuh indexer',
    base: url.replace(/\/+$/, ''),
    index,
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    verifyTls: at(settings, 'insecure_skip_verify') !== true,
    ...(ca !== undefined && { ca }),
    probe: '/_plugins/_security/authinfo',
  };
}

/**
 * Writes to the Wazuh indexer, which is an OpenSearch.
 * https://documentation.wazuh.com/current/user-manual/indexer-api/index.html
 */
export const wazuhOutput: ConnectorCode = {
  createOutput: (config, context) => {
    const cluster = readCluster(config);
    if ('missing' in cluster) throw invalidConfig(cluster.message);
    return createBulkOutput(cluster, context);
  },
  testConnection: createTester(wazuh, async (config, { egress }): Promise<TestOutcome> => {
    const cluster = readCluster(config);
    if ('missing' in cluster) return missing(cluster.missing, cluster.message);
    const { base, authorization, verifyTls, ca, probe } = cluster;
    const response = await egress.fetch(`${base}${probe}`, {
      headers: { accept: 'application/json', authorization },
      verifyTls,
      ...(ca !== undefined && { ca }),
    });
    if (response.status !== 200) return statusFailure(response.status, wazuh);
    return text(await json(response), 'user_name') === undefined
      ? unexpected(wazuh)
      : passed('Signed in to the Wazuh indexer');
  }),
};
