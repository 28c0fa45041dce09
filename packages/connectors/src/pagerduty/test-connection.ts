import { randomUUID } from 'node:crypto';
import type { Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, passed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import { authorizationOf, type PagerDutyOptions } from './output.js';
import { isAboutKey, PAGERDUTY } from './responses.js';

const pagerDuty: Subject = { product: PAGERDUTY, credential: '/secrets/routing_key' };

/**
 * Resolves an alert that does not exist, which has no effect. The API has no request that only checks
 * an integration key.
 */
export function createPagerDutyTester({ api = 'https://events.pagerduty.com' }: PagerDutyOptions = {}): Tester {
  return createTester(pagerDuty, async ({ secrets }, { egress }) => {
    const key = text(secrets, 'routing_key');
    if (!key) return missing('/secrets/routing_key', 'Enter an integration key.');
    const event = { routing_key: key, event_action: 'resolve', dedup_key: `connection-test-${randomUUID()}` };
    const response = await egress.fetch(`${api}/v2/enqueue`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorizationOf(text(secrets, 'auth_token')) },
      body: JSON.stringify(event),
    });
    if (response.status === 202) return passed('PagerDuty accepted the integration key');
    if (response.status < 300) return unexpected(pagerDuty);
    if (response.status === 400 && isAboutKey(await response.text()))
      return failed('invalid_credentials', 'PagerDuty did not accept the integration key.', {
        hint: 'Copy the key of an Events API v2 integration. A REST API key does not work here.',
        at: pagerDuty.credential,
      });
    return statusFailure(response.status, pagerDuty);
  });
}
