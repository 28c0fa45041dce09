import type { CreateOutput } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';
import { createBulkOutput } from './bulk-output.js';
import { baseOf } from './cluster.js';

/**
 * Creates documents in an index or data stream of a cluster, which is given by its URL or its
 * Elastic Cloud ID.
 */
export const createElasticsearchOutput: CreateOutput = ({ settings, secrets }, context) => {
  const base = baseOf(settings);
  if (!base) throw invalidConfig('This does not lead to an Elasticsearch cluster.');
  const index = text(settings, 'index');
  if (!index) throw invalidConfig('There is no index to write to.');
  const byKey = at(settings, 'auth_config', 'type') !== 'password';
  const secret = text(secrets, byKey ? 'api_key' : 'password');
  if (!secret) throw invalidConfig(byKey ? 'There is no API key.' : 'There is no password.');
  const basic = Buffer.from(`${text(settings, 'username') ?? ''}:${secret}`).toString('base64');
  return createBulkOutput(
    {
      product: 'Elasticsearch',
      base,
      index,
      authorization: byKey ? `ApiKey ${secret}` : `Basic ${basic}`,
      verifyTls: at(settings, 'insecure_skip_verify') !== true,
      probe: '/_security/_authenticate',
    },
    context,
  );
};
