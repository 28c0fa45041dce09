import { ConnectorError, type CreateOutput } from '@connector-frame/engine/connector-api';
import { createBulkOutput } from '../elasticsearch/bulk-output.js';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';

/**
 * Creates documents in an index or data stream of OpenSearch or Amazon OpenSearch Service, signed
 * in as a user.
 */
export const createOpensearchOutput: CreateOutput = ({ settings, secrets }, context) => {
  if (at(settings, 'auth_mode') === 'aws_role') {
    // Assuming a role requires an access key, and this connector type has none of the customer's.
    throw new ConnectorError(
      'unsupported',
      'An AWS role can not be taken on from here. Sign in with a user and password.',
      'permanent',
    );
  }
  const url = text(settings, 'url');
  if (!url || !URL.canParse(url)) throw invalidConfig('There is no address to send to.');
  const index = text(settings, 'index');
  if (!index) throw invalidConfig('There is no index to write to.');
  const [user, password] = [text(settings, 'username'), text(secrets, 'password')];
  if (!user || !password) throw invalidConfig('A user name and a password are needed.');
  const ca = text(secrets, 'ca_certificate');
  return createBulkOutput(
    {
      product: 'OpenSearch',
      base: url.replace(/\/+$/, ''),
      index,
      authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
      verifyTls: at(settings, 'insecure_skip_verify') !== true,
      ...(ca !== undefined && { ca }),
      probe: '/_plugins/_security/authinfo',
    },
    context,
  );
};
