import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, passed } from '../_shared/connection-test/outcome.js';
import { json, text } from '../_shared/read.js';

const okta: Subject = { product: 'Okta', address: '/settings/org_url', credential: '/secrets/api_key' };

/**
 * Reads one event.
 * https://developer.okta.com/docs/api/openapi/okta-management/management/tag/SystemLog/
 */
export const testOktaSystemLog = createTester(okta, async ({ settings, secrets }, { egress }) => {
  const token = text(secrets, 'api_key');
  if (!token) return missing('/secrets/api_key', 'Enter an API token.');
  const address = text(settings, 'org_url') ?? '';
  const url = URL.canParse(address) ? new URL('/api/v1/logs?limit=1', address) : undefined;
  if (url?.protocol !== 'https:') {
    return failed('invalid_config', 'Enter the address of your Okta organization, with https:// in front.', {
      at: okta.address,
    });
  }
  const response = await egress.fetch(url, { headers: { accept: 'application/json', authorization: `SSWS ${token}` } });
  switch (response.status) {
    case 200: {
      const events = await json(response);
      if (!Array.isArray(events)) return unexpected(okta);
      return passed(events.length === 1 ? 'Read 1 event' : `Read ${events.length} events`);
    }
    case 401:
      return failed('invalid_credentials', 'Okta did not accept the API token.', {
        hint: 'Create a new token in the Okta admin console under Security, API, Tokens.',
        at: okta.credential,
      });
    case 403:
      return failed('forbidden', 'This API token may not read the System Log.', {
        hint: 'Create the token as an administrator who may view the System Log.',
        at: okta.credential,
      });
    case 404:
      return failed('not_found', 'There is no Okta organization at this address.', {
        hint: 'It reads like https://acme.okta.com, without -admin.',
        at: okta.address,
      });
    default:
      return statusFailure(response.status, okta);
  }
});
