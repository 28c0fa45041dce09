import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { type ConnectorContext, ConnectorError } from '@connector-frame/engine/connector-api';
import { statusFailure } from '../_shared/output/failures.js';
import { invalidConfig, send } from '../_shared/output/send.js';
import { text } from '../_shared/read.js';

const SPLUNK = "Splunk's management port";

/**
 * Returns a function that creates the index of the settings unless it exists.
 * https://help.splunk.com/en/splunk-enterprise/leverage-rest-apis/rest-api-reference/introspect-endpoints/introspect-endpoint-descriptions
 * @param base origin of the management port
 * @throws ConnectorError
 */
export function createIndexMaker(
  { settings, secrets }: ConnectorConfig,
  base: string,
  verifyTls: boolean,
  { egress, clock }: ConnectorContext,
): (signal: AbortSignal) => Promise<void> {
  const [name, user, password] = [text(settings, 'index'), text(settings, 'username'), text(secrets, 'password')];
  if (!name || !user || !password)
    throw invalidConfig('To create the index, its name, a user and a password are needed.');
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  return async (signal) => {
    const answer = await send(
      egress,
      {
        url: `${base}/services/data/indexes?output_mode=json`,
        headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ name }).toString(),
        verifyTls,
        product: SPLUNK,
      },
      signal,
    );
    // 409: the index exists.
    if (answer.status === 201 || answer.status === 409) return;
    if (answer.status === 401)
      throw new ConnectorError(
        'invalid_credentials',
        'Splunk did not accept the user that creates the index.',
        'permanent',
      );
    throw statusFailure(answer, SPLUNK, clock.now());
  };
}
