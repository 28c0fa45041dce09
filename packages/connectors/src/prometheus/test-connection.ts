import { ConnectorError, type Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, unexpected, type Subject } from '../_shared/connection-test/failures.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { failureOf } from '../_shared/broker/test-failure.js';
import { isPage } from '../_shared/delivery/responses.js';
import { readPrometheusTarget } from './config.js';
import { write } from './output.js';

const endpoint: Subject = { product: 'the endpoint', address: '/settings/endpoint' };
const fields = {
  ...endpoint,
  address: '/settings/endpoint',
  user: '/secrets/username',
  password: '/secrets/password',
  name: '/settings/endpoint',
};

/** Writes no samples: a request without any is valid, and still needs the credentials. */
export const testPrometheus: Tester = createTester(endpoint, async (config, { egress, signal }) => {
  const credential = config.secrets['bearer_token'] === undefined ? '/secrets/password' : '/secrets/bearer_token';
  try {
    const response = await write(readPrometheusTarget(config), new Uint8Array(), egress, signal);
    const { status } = response;
    if (status >= 200 && status < 300)
      return isPage(response) ? unexpected(endpoint) : passed('The endpoint accepted a write without samples');
    // Some receivers ask for at least one sample, after they have checked the credentials.
    if (status === 400) return passed('The endpoint responded. The first delivery shows whether it accepts samples');
    return statusFailure(status, { ...endpoint, credential });
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    if (error.code === 'invalid_config') return failed('invalid_config', error.message, { at: '/settings/endpoint' });
    return failureOf(error, fields);
  }
});
