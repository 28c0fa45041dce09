import { checkAllow } from './check-allow.js';
import { checkOptions } from './check-options.js';
import { checkOrigin } from './check-origin.js';
import { createServiceRequest } from './create-service-request.js';
import { errorResponse } from './error-response.js';
import { HostError } from './host-error.js';
import type { HostOptions } from './host-options.js';
import type { Route, RouteTools } from './route.js';
import { buildPipelineRoute } from './routes/build-pipeline.js';
import { catalogRoute } from './routes/catalog.js';
import { configRoute } from './routes/config.js';
import { connectorsRoute } from './routes/connectors.js';
import { egressRoute, ingressRoute } from './routes/ingress.js';
import { integrationActionRoute } from './routes/integration-action.js';
import { removeRoute } from './routes/remove.js';
import { sessionRoute } from './routes/session.js';
import { stateRoute } from './routes/state.js';
import { statusRoute } from './routes/status.js';
import { teamRoute } from './routes/team.js';

/**
 * A fetch-style handler. It never rejects, and responds with 404 to a path that is not its own; use
 * `matches` first if other handlers follow.
 */
export interface Host<Context = unknown> {
  (
    request: Request,
    ...context: undefined extends Context ? [context?: Context] : [context: Context]
  ): Promise<Response>;
  /** Returns whether a URL or path is one of this host's routes, for any method. */
  matches(address: string | URL): boolean;
  /**
   * Checks the option `allow` against the catalogs of the service. Call it at startup or in a test
   * of your deployment.
   *
   * @throws TypeError for type IDs that the service doesn't have, with what to write instead
   * @throws ServiceRequestError if the service doesn't return its catalogs
   */
  checkAllow(): Promise<void>;
}

/**
 * Creates the host product's backend for connector forms: `GET /api/monad/config`,
 * `POST /api/session`, `GET /api/catalog`, `GET /api/connectors`, `POST /api/build-pipeline`,
 * `POST /api/integration-action` and, if enabled, `POST /api/team`. The option `routes` replaces the
 * two for pipelines by one for each action.
 *
 * @throws TypeError naming the option that is missing, unknown or invalid, and what to write instead
 * @example
 * ```ts
 * const host = createHost({
 *   serviceUrl: 'https://connect.example.com',
 *   apiKey: process.env.SERVICE_API_KEY ?? '',
 *   authorizeTenant: async (request, tenantId) => organizationOf(await readUser(request), tenantId),
 * });
 * const response = await host(request);
 * ```
 */
export function createHost<Context = unknown>(given: HostOptions<Context>): Host<Context> {
  const options = checkOptions(given);
  const service = createServiceRequest({
    baseUrl: options.serviceUrl,
    apiKey: options.apiKey,
    ...(options.fetch && { fetch: options.fetch }),
  });
  const routes = createRoutes({ options, service });
  const find = (url: URL) => routes.get(url.pathname.replace(/\/$/, ''));

  async function dispatch(request: Request, context: Context): Promise<Response> {
    const url = new URL(request.url);
    const route = find(url);
    if (!route) throw new HostError('not_found', 'This route does not exist.');
    if (request.method !== route.method) {
      throw new HostError('invalid_request', `Use ${route.method}.`, { status: 405, headers: { allow: route.method } });
    }
    if (route.method === 'POST') checkOrigin(request);
    return route.handle({ request, url, context });
  }

  const handler = async (request: Request, context?: Context): Promise<Response> => {
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- optional only where Context takes undefined
      return await dispatch(request, context as Context);
    } catch (error) {
      return errorResponse(error, (cause) => options.onError(cause, request));
    }
  };
  return Object.assign(handler, {
    matches: (address: string | URL) => find(new URL(address, 'http://any')) !== undefined,
    checkAllow: () => checkAllow(service, options.allow),
  });
}

function createRoutes<Context>(tools: RouteTools<Context>): Map<string, Route<Context>> {
  const { basePath, parentOrganizationId } = tools.options;
  const routes = {
    'monad/config': configRoute(tools),
    session: sessionRoute(tools),
    catalog: catalogRoute(tools),
    connectors: connectorsRoute(tools),
    ...pipelineRoutes(tools),
    ...(parentOrganizationId !== undefined && { team: teamRoute(tools) }),
  };
  return new Map(Object.entries(routes).map(([path, route]) => [`${basePath}/${path}`, route]));
}

function pipelineRoutes<Context>(tools: RouteTools<Context>): Record<string, Route<Context>> {
  if (tools.options.routes === 'combined') {
    return { 'build-pipeline': buildPipelineRoute(tools), 'integration-action': integrationActionRoute(tools) };
  }
  return {
    ingress: ingressRoute(tools),
    egress: egressRoute(tools),
    status: statusRoute(tools),
    state: stateRoute(tools),
    remove: removeRoute(tools),
  };
}
