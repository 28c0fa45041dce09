import { randomBytes } from 'node:crypto';
import { formPage, isOwnForm, seeOther } from './own-form.js';

/**
 * A customer of the demo product. `organizationId` is its team in the service; the mapping is
 * stored on this server only.
 */
export interface Tenant {
  id: string;
  name: string;
  organizationId: string;
}

/**
 * Sign-in of the demo product. It asks for no password; otherwise it works like that of a real
 * product.
 */
export interface SignIn {
  /** Returns the tenant that is signed in on this request. */
  tenantOf: (request: Request) => Tenant | undefined;
  /**
   * Handles `GET /demo/me`, `POST /demo/sign-in { tenantId }` and `POST /demo/sign-out`. Resolves
   * to `undefined` for other paths.
   */
  handle(request: Request): Promise<Response | undefined>;
}

const cookieName = 'northwind_session';

/** Maximum number of sessions. The oldest is evicted first. */
const maxSessions = 10_000;

export function createSignIn(tenants: readonly Tenant[]): SignIn {
  const sessions = new Map<string, Tenant>();

  function tenantOf(request: Request): Tenant | undefined {
    const id = sessionIdOf(request);
    return id === undefined ? undefined : sessions.get(id);
  }

  function me(tenant: Tenant | undefined, cookie?: string): Response {
    const visible = ({ id, name }: Tenant) => ({ id, name });
    const body = { tenant: tenant ? visible(tenant) : null, tenants: tenants.map(visible) };
    return Response.json(body, { headers: { 'cache-control': 'no-store', ...(cookie && { 'set-cookie': cookie }) } });
  }

  async function signIn(request: Request, isForm: boolean): Promise<Response> {
    const tenantId = isForm ? new URLSearchParams(await request.text()).get('tenantId') : await readTenantId(request);
    const tenant = tenants.find(({ id }) => id === tenantId);
    if (!tenant)
      return errorResponse(
        400,
        'invalid_request',
        `"tenantId" must be one of ${tenants.map(({ id }) => id).join(', ')}.`,
      );
    const id = randomBytes(32).toString('base64url');
    const [oldest] = sessions.keys();
    if (oldest !== undefined && sessions.size >= maxSessions) sessions.delete(oldest);
    sessions.set(id, tenant);
    const set = cookie(id, 12 * 60 * 60);
    return isForm ? seeOther(listsOf(request, tenantOf(request) !== undefined), set) : me(tenant, set);
  }

  function signOut(request: Request, isForm: boolean): Response {
    sessions.delete(sessionIdOf(request) ?? '');
    const set = cookie('', 0);
    return isForm ? seeOther(listsOf(request, true), set) : me(undefined, set);
  }

  return {
    tenantOf,
    async handle(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/demo/me' && request.method === 'GET') return me(tenantOf(request));
      if (pathname !== '/demo/sign-in' && pathname !== '/demo/sign-out') return undefined;
      if (request.method !== 'POST') return errorResponse(405, 'invalid_request', 'Use POST.');
      // Prevent login CSRF: other sites can't send JSON, and their forms are rejected.
      const type = request.headers.get('content-type') ?? '';
      const isForm = type.startsWith('application/x-www-form-urlencoded');
      if (!isForm && !type.startsWith('application/json')) {
        return errorResponse(415, 'invalid_request', 'Send application/json.');
      }
      if (isForm && !isOwnForm(request))
        return errorResponse(403, 'forbidden', 'Only forms of this site sign people in or out.');
      return pathname === '/demo/sign-in' ? signIn(request, isForm) : signOut(request, isForm);
    },
  };
}

async function readTenantId(request: Request): Promise<unknown> {
  const body: unknown = await request.json().catch(() => undefined);
  return typeof body === 'object' && body !== null && 'tenantId' in body ? body.tenantId : undefined;
}

/**
 * Returns the page that the form was on. If someone was signed in before, returns the lists
 * instead, because an open form may belong to the previous tenant.
 */
function listsOf(request: Request, wasSignedIn: boolean): URL {
  const url = formPage(request);
  if (!wasSignedIn) return url;
  const kind = url.searchParams.get('kind');
  url.search = kind === null ? '' : `?${new URLSearchParams({ kind })}`;
  return url;
}

/**
 * `SameSite=Lax`, as is usual for products: the cookie is not sent into the form's frame, nor with
 * requests of other sites.
 */
function cookie(value: string, maxAge: number): string {
  return `${cookieName}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax`;
}

function sessionIdOf(request: Request): string | undefined {
  const pairs = (request.headers.get('cookie') ?? '').split(/;\s*/);
  return pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1);
}

function errorResponse(status: number, code: string, message: string): Response {
  return Response.json({ code, message }, { status, headers: { 'cache-control': 'no-store' } });
}
