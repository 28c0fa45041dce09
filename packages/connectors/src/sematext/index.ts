import type { ConnectorCode, TesterConfig } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, passed } from '../_shared/connection-test/outcome.js';
import { invalidConfig } from '../_shared/output/send.js';
import { text } from '../_shared/read.js';
import { createBulkOutput } from '../elasticsearch/bulk-output.js';

const sematext: Subject = { product: 'Sematext', address: '/settings/endpoint', credential: '/secrets/token' };

function baseOf({ settings }: TesterConfig): string | undefined {
  const region = text(settings, 'region') === 'eu' ? 'eu.' : '';
  const base = text(settings, 'endpoint') ?? `https://logsene-receiver.${region}sematext.com`;
  return URL.canParse(base) ? base.replace(/\/+$/, '') : undefined;
}

/**
 * Writes by the bulk API of Elasticsearch, in which the token of the Logs App is the index.
 * https://sematext.com/docs/logs/index-events-via-elasticsearch-api/
 */
export const sematextOutput: ConnectorCode = {
  createOutput(config, context) {
    const [base, index] = [baseOf(config), text(config.secrets, 'token')];
    if (base === undefined || index === undefined) throw invalidConfig('An address and a token are required.');
    const { product } = sematext;
    return createBulkOutput({ product, base, index, action: 'index', verifyTls: true, probe: '/' }, context);
  },
  // The receiver has no request that checks a token without writing.
  testConnection: createTester(sematext, async (config, { egress }) => {
    const base = baseOf(config);
    if (base === undefined)
      return failed('invalid_config', 'This is not a valid address.', { at: '/settings/endpoint' });
    if (!text(config.secrets, 'token')) return missing('/secrets/token', 'Enter the token of your Logs App.');
    const { status } = await egress.fetch(`${base}/`, { discardBody: true });
    return status >= 500 || status === 429
      ? statusFailure(status, sematext)
      : passed('The server responded. The first delivery shows whether it accepts records');
  }),
};
