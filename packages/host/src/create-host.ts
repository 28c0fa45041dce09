import { checkOrigin } from './check-origin.js';
import { createServiceRequest } from './create-service-request.js';
import { errorResponse } from './error-response.js';
import { HostError } from './host-error.js';
import { checkOptions, type HostOptions } from './host-options.js';
import type { Route, RouteTools } from './route.js';
import { buildPipelineRoute } from './routes/build-pipeline.js';
import { catalogRoute } from './routes/catalog.js';
import { configRoute } from './routes/config.js';
import { connectorsRoute } from './routes/connectors.js';
import { integrationActionRoute } from './routes/integration-action.js';
import { sessionRoute } from './routes/session.js';
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
}

/**
 * Creates the host product's backend for connector forms: `GET /api/monad/config`,
 * `POST /api/session`, `GET /api/catalog`, `GET /api/connectors`, `POST /api/build-pipeline`,
 * `POST /api/integration-action` and, if enabled, `POST /api/team`.
 *
 * @throws TypeError naming the option that is missing or invalid
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
  });
}

function createRoutes<Context>(tools: RouteTools<Context>): Map<string, Route<Context>> {
  const { basePath, parentOrganizationId } = tools.options;
  const routes = new Map([
    [`${basePath}/monad/config`, configRoute(tools)],
    [`${basePath}/session`, sessionRoute(tools)],
    [`${basePath}/catalog`, catalogRoute(tools)],
    [`${basePath}/connectors`, connectorsRoute(tools)],
    [`${basePath}/build-pipeline`, buildPipelineRoute(tools)],
    [`${basePath}/integration-action`, integrationActionRoute(tools)],
  ]);
  if (parentOrganizationId !== undefined) routes.set(`${basePath}/team`, teamRoute(tools));
  return routes;
}
