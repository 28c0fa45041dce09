import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, passed } from '../_shared/connection-test/outcome.js';
import { at, json, text } from '../_shared/read.js';
import { baseOf } from './address.js';

const splunk: Subject = { product: 'Splunk HEC', address: '/settings/url', credential: '/secrets/token' };

/**
 * Response codes of the HTTP Event Collector.
 * https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/troubleshoot-http-event-collector
 */
const TOKEN_DISABLED = 1;
/**
 * Returned only after the token was accepted: success, no data, no channel (indexer acknowledgment
 * is on).
 */
const ACCEPTED = [0, 5, 10];

/**
 * Checks health, then sends an empty request: HEC checks the token first, and responds with "no
 * data" if it is valid. Nothing is indexed, so the index is not checked.
 */
export const testSplunk = createTester(splunk, async ({ settings, secrets }, { egress }) => {
  const token = text(secrets, 'token');
  if (!token) return missing('/secrets/token', 'Enter a HEC token.');
  const base = baseOf(text(settings, 'url') ?? '', text(settings, 'port'));
  if (!base)
    return failed('invalid_config', 'This is not an address we can connect to.', {
      at: [splunk.address, '/settings/port'],
    });
  const verifyTls = at(settings, 'allow_insecure') !== true;

  const health = await egress.fetch(`${base}/services/collector/health`, { verifyTls });
  if (health.status === 503) {
    return failed(
      'upstream_error',
      'Splunk can not take data right now: its queues are full, or HEC is switched off.',
      {
        hint: 'Check the health of the indexers, and that HEC is enabled.',
      },
    );
  }
  const response = await egress.fetch(`${base}/services/collector/event`, {
    method: 'POST',
    headers: { authorization: `Splunk ${token}` },
    verifyTls,
  });
  const code = at(await json(response), 'code');
  if (typeof code !== 'number')
    return response.status < 400 ? unexpected(splunk) : statusFailure(response.status, splunk);
  if (ACCEPTED.includes(code)) return passed('Splunk accepted the token');
  if (code === TOKEN_DISABLED) {
    return failed('forbidden', 'This HEC token is disabled.', { hint: 'Enable it in Splunk.', at: splunk.credential });
  }
  if (response.status === 401 || response.status === 403) {
    return failed('invalid_credentials', 'Splunk did not accept the HEC token.', {
      hint: 'Copy it again from Settings, Data inputs, HTTP Event Collector.',
      at: splunk.credential,
    });
  }
  return statusFailure(response.status, splunk);
});
