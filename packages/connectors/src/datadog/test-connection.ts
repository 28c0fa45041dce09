import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, passed } from '../_shared/connection-test/outcome.js';
import { at, json, text } from '../_shared/read.js';
import { siteOf } from './site.js';
import type { Tester } from '@connector-frame/engine/connector-api';

const datadog: Subject = { product: 'Datadog', address: '/settings/domain_url', credential: '/secrets/api_key' };

export interface DatadogOptions {
  /** Returns the origin of a site's API. */
  apiOf?: (site: string) => string;
}

/** Validates the API key; writes no log. https://docs.datadoghq.com/api/latest/authentication/ */
export function createDatadogTester({ apiOf = (site) => `https://api.${site}` }: DatadogOptions = {}): Tester {
  return createTester(datadog, async ({ settings, secrets }, { egress }) => {
    const apiKey = text(secrets, 'api_key');
    if (!apiKey) return missing('/secrets/api_key', 'Enter an API key.');
    const site = siteOf(text(settings, 'domain_url') ?? '');
    if (!site) {
      return failed('invalid_config', 'This is not an address of Datadog.', {
        hint: "Use your site's intake address, such as https://http-intake.logs.datadoghq.com.",
        at: datadog.address,
      });
    }
    const response = await egress.fetch(`${apiOf(site)}/api/v1/validate`, {
      headers: { accept: 'application/json', 'dd-api-key': apiKey },
    });
    if (response.status === 200) {
      return at(await json(response), 'valid') === true ? passed('Datadog accepted the API key') : unexpected(datadog);
    }
    if (response.status === 401 || response.status === 403) {
      return failed('invalid_credentials', 'Datadog did not accept the API key.', {
        hint: 'Use an API key, not an application key, and check that it belongs to this Datadog site.',
        at: datadog.credential,
      });
    }
    return statusFailure(response.status, datadog);
  });
}
