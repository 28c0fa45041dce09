import { ConnectorError } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, passed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import { headersOf } from './enrichment.js';
import { urlOf } from './url.js';

const URL_FIELD = '/settings/url';
const SECRET_HEADERS = '/secrets/auth_headers';
const KEY = 'connection-test';

const api: Subject = { product: 'the API', address: URL_FIELD, credential: SECRET_HEADERS };

/** Looks up a key that the API does not need to know: 404 is a good answer, too. */
export const testHttpLookup = createTester(api, async ({ settings, secrets }, { egress }) => {
  const template = text(settings, 'url');
  const url = template === undefined ? undefined : urlOf(template, KEY);
  if (url === undefined) return missing(URL_FIELD, 'Enter an address.');
  let headers: Headers;
  try {
    headers = headersOf({ settings, secrets });
  } catch (error) {
    if (error instanceof ConnectorError) return failed('invalid_config', error.message, { at: SECRET_HEADERS });
    throw error;
  }
  const response = await egress.fetch(url, { headers, verifyTls: settings['tls_skip_verify'] !== true });
  const { status } = response;
  if ([204, 400, 404, 410, 422].includes(status))
    return passed(`The API responded. It has nothing for the key ${KEY} (HTTP ${status})`);
  if (status !== 200) return statusFailure(status, api);
  try {
    JSON.parse(await response.text());
  } catch {
    return unexpected(api);
  }
  return passed('The API responded with JSON (HTTP 200)');
});
