import { createServiceRequest } from '@connector-frame/host';
import type { PipelineSnapshots } from '../../pages/shared/pipelines/shapes.js';
import type { Tenant } from '../sign-in.js';
import { followLog } from './follow-log.js';
import { ingestAddress, ingestToken, sendTestEvent } from './ingest.js';
import { jsonResponse, HttpError, errorResponse } from './http-error.js';
import { createFinder, fieldsOfWrite, inputId, scopeOf } from './scope.js';
import { createSnapshots } from './snapshot.js';

export interface PipelineRouteOptions {
  /** URL of the service, as this server reaches it. */
  serviceUrl: string;
  /** API key of the product. It never leaves this server. */
  apiKey: string;
  tenantOf: (request: Request) => Tenant | undefined;
}

/** Maximum number of inputs per request. */
const most = 20;

/**
 * Creates the routes that the connection list uses in addition to the host's own. They serve the
 * signed-in tenant only:
 *
 * - `GET /demo/pipelines?tenantId=&inputId=&inputId=`: pipeline status of up to 20 inputs
 * - `GET /demo/pipelines/log?tenantId=&inputId=`: log of one pipeline, as server-sent events
 * - `GET /demo/pipelines/ingest?tenantId=&inputId=`: where an input receives records
 * - `POST /demo/pipelines/token`, `POST /demo/pipelines/test-event`, both `{ tenantId, inputId }`
 *
 * The handler resolves to `undefined` for other paths.
 */
export function createPipelineRoutes({ serviceUrl, apiKey, tenantOf }: PipelineRouteOptions) {
  const service = createServiceRequest({ baseUrl: serviceUrl, apiKey });
  const finder = createFinder();
  const snapshotOf = createSnapshots(finder);
  const source = { serviceUrl, apiKey, finder };

  async function read(request: Request, url: URL): Promise<Response> {
    const { searchParams: query } = url;
    const scope = scopeOf(tenantOf(request), query.get('tenantId'), service);
    const ids = query.getAll('inputId').map(inputId);
    const [id] = ids;
    if (id === undefined || ids.length > most) {
      throw new HttpError(400, 'invalid_request', `Name 1 to ${most} inputs with "inputId".`);
    }
    if (url.pathname === '/demo/pipelines/log') {
      return followLog(source, scope, id, request.headers.get('last-event-id') ?? query.get('after'));
    }
    if (url.pathname === '/demo/pipelines/ingest') return jsonResponse({ ingest: await ingestAddress(scope, id) });
    const snapshots = await Promise.all(ids.map(async (one) => [one, await snapshotOf(scope, one)] as const));
    return jsonResponse({ pipelines: Object.fromEntries(snapshots) } satisfies PipelineSnapshots);
  }

  async function write(request: Request, { pathname }: URL): Promise<Response> {
    const fields = await fieldsOfWrite(request);
    const scope = scopeOf(tenantOf(request), fields['tenantId'], service);
    const id = inputId(fields['inputId']);
    return jsonResponse(
      await (pathname === '/demo/pipelines/token' ? ingestToken(scope, id) : sendTestEvent(scope, id)),
    );
  }

  const routes = new Map([
    ['/demo/pipelines', { method: 'GET', run: read }],
    ['/demo/pipelines/log', { method: 'GET', run: read }],
    ['/demo/pipelines/ingest', { method: 'GET', run: read }],
    ['/demo/pipelines/token', { method: 'POST', run: write }],
    ['/demo/pipelines/test-event', { method: 'POST', run: write }],
  ]);

  return async (request: Request): Promise<Response | undefined> => {
    const url = new URL(request.url);
    const route = routes.get(url.pathname);
    if (!route) return undefined;
    try {
      if (request.method !== route.method) throw new HttpError(405, 'invalid_request', `Use ${route.method}.`);
      return await route.run(request, url);
    } catch (error) {
      // Don't expose the service's error messages to browsers.
      return errorResponse(error instanceof HttpError ? error : down);
    }
  };
}

const down = new HttpError(502, 'upstream_error', 'The connector service has a problem right now.');
