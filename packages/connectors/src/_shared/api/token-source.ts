import type { ConnectorConfig, PollSingleAuthentication } from '@connector-frame/catalog/types';
import { createApiAuthentication, type SignInOptions } from './api-client.js';

/**
 * Returns a function that obtains the token which a method sends, for protocols other than HTTP. Keeps
 * it until shortly before it expires.
 * @throws PollError `invalid_config`
 */
export function createTokenSource(
  method: PollSingleAuthentication,
  config: ConnectorConfig,
  options: SignInOptions,
): (signal: AbortSignal) => Promise<string> {
  const authentication = createApiAuthentication(method, config, options);
  return async (signal) => {
    const headers = new Headers();
    await authentication.sign({ method: 'GET', url: new URL(options.base), headers }, signal);
    return (headers.get('authorization') ?? '').replace(/^Bearer /, '');
  };
}
