import type { HostConfig } from '@connector-frame/core/connect';
import { json } from '../json.js';
import type { Route, RouteTools } from '../route.js';

/** `GET /monad/config`: returns the URLs of the form and the service. */
export function configRoute<Context>({ options }: RouteTools<Context>): Route<Context> {
  const config: HostConfig = { frameOrigin: options.frameOrigin, apiBase: options.apiBase };
  return { method: 'GET', handle: () => json(config, { keep: true }) };
}
