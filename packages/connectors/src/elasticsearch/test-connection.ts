import { type Egress, isRecord, type TestOutcome } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing, passed } from '../_shared/connection-test/outcome.js';
import { at, json, text } from '../_shared/read.js';
import { baseOf } from './cluster.js';

const URL_FIELD = '/settings/connection_config/url/endpoint';
const CLOUD_FIELD = '/settings/connection_config/cloud_id/id';

const elasticsearch: Subject = { product: 'Elasticsearch', address: URL_FIELD };

/**
 * Signs in and checks the privileges on the index; writes nothing. If the cluster has no security
 * features, checks that Elasticsearch responds.
 * https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-security-has-privileges
 */
export const testElasticsearch = createTester(elasticsearch, async ({ settings, secrets }, { egress }) => {
  const base = baseOf(settings);
  if (!base) {
    const field = at(settings, 'connection_config', 'type') === 'cloud_id' ? CLOUD_FIELD : URL_FIELD;
    return failed('invalid_config', 'This does not lead to an Elasticsearch cluster.', { at: field });
  }
  const index = text(settings, 'index');
  if (!index) return missing('/settings/index', 'Enter an index.');

  const byKey = at(settings, 'auth_config', 'type') !== 'password';
  const credential = byKey ? '/secrets/api_key' : '/secrets/password';
  const secret = text(secrets, byKey ? 'api_key' : 'password');
  if (!secret) return missing(credential, byKey ? 'Enter an API key.' : 'Enter a password.');
  const basic = Buffer.from(`${text(settings, 'username') ?? ''}:${secret}`).toString('base64');
  const init = {
    headers: { accept: 'application/json', authorization: byKey ? `ApiKey ${secret}` : `Basic ${basic}` },
    verifyTls: at(settings, 'insecure_skip_verify') !== true,
  };
  const response = await egress.fetch(`${base}/_security/user/_has_privileges`, {
    ...init,
    method: 'POST',
    headers: { ...init.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ index: [{ names: [index], privileges: ['create_doc'] }] }),
  });
  switch (response.status) {
    case 200: {
      const allowed = at(await json(response), 'has_all_requested');
      if (typeof allowed !== 'boolean') return unexpected(elasticsearch);
      if (allowed) return passed('Signed in, and may write to the index');
      return failed('forbidden', 'Signed in, but without the right to write to this index.', {
        hint: 'Grant the privilege create_doc, index or write on it.',
        at: '/settings/index',
      });
    }
    case 401:
      return failed(
        'invalid_credentials',
        `Elasticsearch did not accept the ${byKey ? 'API key' : 'user name and password'}.`,
        {
          ...(byKey && { hint: 'Use the encoded form of the key: id and key joined, in Base64.' }),
          at: byKey ? credential : ['/settings/username', credential],
        },
      );
    case 400:
    case 404:
    case 405:
      return whoAnswers(egress, base, init, credential);
    default:
      return statusFailure(response.status, { ...elasticsearch, credential });
  }
});

async function whoAnswers(
  egress: Egress,
  base: string,
  init: Parameters<Egress['fetch']>[1],
  credential: string,
): Promise<TestOutcome> {
  const response = await egress.fetch(`${base}/`, init);
  if (response.status !== 200) return statusFailure(response.status, { ...elasticsearch, credential });
  const version = at(await json(response), 'version');
  return isRecord(version) && text(version, 'number')
    ? passed('The cluster answered. It does not tell which rights there are on the index')
    : unexpected(elasticsearch);
}
