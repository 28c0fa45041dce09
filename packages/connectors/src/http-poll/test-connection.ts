import { ConnectorError, type Tester } from '@connector-frame/engine/connector-api';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { statusFailure, type Subject } from '../_shared/connection-test/failures.js';
import { failed, passed } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import { readPollRequest } from './request.js';

const server: Subject = { product: 'the server', address: '/settings/endpoint' };

/** Fetches the address once, unless its method may change something. */
export const testHttpPoll: Tester = createTester(server, async (config, { egress }) => {
  const strategy = text(config.settings, 'auth', 'strategy');
  const credential =
    strategy === 'basic' ? '/secrets/password' : strategy === 'bearer' ? '/secrets/token' : '/settings/headers';
  try {
    const { url, init } = readPollRequest(config);
    const isSafe = ['GET', 'HEAD', 'OPTIONS', 'POST'].includes(init.method ?? 'GET');
    const { body: _body, ...bare } = init;
    const { status } = await egress.fetch(url, { ...(isSafe ? init : { ...bare, method: 'HEAD' }), discardBody: true });
    if (status >= 200 && status < 300)
      return passed(`The server responded (HTTP ${status})${isSafe ? '' : `. A test sends no ${init.method ?? ''}`}`);
    if (!isSafe && status === 405) return passed(`The server responded. A test sends no ${init.method ?? ''}`);
    return statusFailure(status, { ...server, credential });
  } catch (error) {
    if (error instanceof ConnectorError) return failed('invalid_config', error.message, { at: '/settings/headers' });
    throw error;
  }
});
