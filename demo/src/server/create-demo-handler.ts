import { createHost, HostError } from '@connector-frame/host';
import { handleTheme } from './theme.js';
import { createPages } from './pages.js';
import { createPipelineRoutes } from './pipelines/create-pipeline-routes.js';
import { createSignIn, type Tenant } from './sign-in.js';

export interface DemoOptions {
  /** URL of the service, for this server and for browsers. */
  serviceUrl: string;
  apiKey: string;
  tenants: readonly Tenant[];
  /** Folder of the built pages. */
  pages: string;
}

/**
 * Creates the request handler of "Northwind Security": its sign-in, its pages, and the host routes
 * behind them.
 */
export async function createDemoHandler(options: DemoOptions): Promise<(request: Request) => Promise<Response>> {
  const { serviceUrl, apiKey, tenants } = options;
  const signIn = createSignIn(tenants);
  const host = createHost({
    serviceUrl,
    apiKey,
    // Users choose what to delete with a pipeline. The first entry is the default.
    cleanup: ['full', 'keep-output', 'pipeline-only'],
    authorizeTenant(request, tenantId) {
      const tenant = signIn.tenantOf(request);
      if (!tenant) throw new HostError('unauthenticated', 'Sign in first.');
      return tenant.id === tenantId ? tenant.organizationId : null;
    },
  });

  const pipelines = createPipelineRoutes({ serviceUrl, apiKey, tenantOf: signIn.tenantOf });
  const pages = await createPages(options.pages, { serviceUrl, tenants, tenantOf: signIn.tenantOf, host });

  return async (request) => {
    if (host.matches(request.url)) return host(request);
    return (
      (await signIn.handle(request)) ??
      (await handleTheme(request)) ??
      (await pipelines(request)) ??
      (await pages(request)) ??
      notFound()
    );
  };
}

function notFound(): Response {
  return new Response('Not found. The pages are /script/, /html/, /react/ and /vue/.', {
    status: 404,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  });
}
