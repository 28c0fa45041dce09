import { accepts } from 'hono/accepts';
import type { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { authorOf } from '../audit/author.js';
import { recordWrites } from '../audit/record-writes.js';
import type { Principal } from '../auth/principal.js';
import type { Clock } from '../clock.js';
import type { Organization, Store } from '../store/store.js';
import { ApiError, invalidRequest, notFound } from '../api-error.js';
import { requireKnown } from './known-fields.js';
import type { Cors } from './cors.js';
import type { AccessControl } from './access-control.js';
import type { Idempotently } from './idempotent.js';
import { describeRoute } from './describe-route.js';
import { readBody, readFormBody, readTextBody } from './read-body.js';
import { readQuery } from './read-query.js';
import type { ObservedRequest, Observer } from './observe.js';
import { respond } from './respond.js';
import type { Route, Transact } from './route.js';

export interface MountOptions {
  accessControl: AccessControl;
  store: Store;
  idempotently: Idempotently;
  clock: Clock;
  observe: Observer;
  cors: Cors;
}

/**
 * Registers each route as one handler without middleware, and describes it in the OpenAPI document.
 * @throws TypeError for a route without an access policy, or one that would replay stored responses
 *   to sessions without `authorize`
 */
export function mountRoutes(app: OpenAPIHono, routes: readonly Route[], options: MountOptions): void {
  for (const route of routes) {
    checkAccess(route);
    checkReplay(route);
    app.openAPIRegistry.registerPath(describeRoute(route));
    // With `strict: false`, Hono removes the trailing slash of a request's path, so a registered
    // path must not have one.
    const path = route.spec.path.replace(/\/$/, '').replaceAll(/\{(\w+)\}/g, ':$1');
    app.on(route.spec.method, path, (c) => handleRequest(c, route, options));
  }
}

function checkAccess({ spec }: Route): void {
  const access: Partial<{ public: true; permission: string | readonly string[]; session: string }> | undefined =
    spec.access;
  if (access?.public || (access?.permission?.length && (access.session === 'allow' || access.session === 'deny')))
    return;
  throw new TypeError(
    `The route ${spec.method} ${spec.path} has no access policy. Set access to { permission, session: 'allow' | 'deny' } or { public: true }.`,
  );
}

function checkReplay(route: Route): void {
  const { spec } = route;
  if (!spec.idempotent || 'public' in spec.access || spec.access.session === 'deny' || route.authorize) return;
  throw new TypeError(
    `The route ${spec.method} ${spec.path} would replay stored responses to sessions without checking their scope. Pass "authorize".`,
  );
}

async function handleRequest(c: Context, route: Route, options: MountOptions): Promise<Response> {
  const request = options.observe(c, route.spec.path);
  const headers = Object.assign({ 'Request-Id': request.id }, options.cors.answer(c.req.header('origin')));
  try {
    const result = await run(c, route, options, headers, request);
    // Public files can be kept by shared caches, and have their own headers.
    const isFile = 'public' in route.spec.access && !route.renderError && route.spec.response.status === 200;
    if (result instanceof Response) return request.done(isFile ? result : withHeaders(result, headers));
    return request.done(respond(result.status, result.body, headers, result.headers));
  } catch (error) {
    const rejection = error instanceof ApiError ? error : request.failed(error);
    const response =
      route.renderError && (!route.negotiatesErrors || acceptsHtml(c))
        ? withHeaders(await route.renderError(rejection), headers)
        : respond(rejection.status, rejection.toJSON(), headers, rejection.options.headers);
    if (route.negotiatesErrors) response.headers.append('Vary', 'Accept');
    return request.done(response, rejection);
  }
}

/** Returns whether a request prefers HTML, as a browser does for a page. A program that accepts anything gets JSON. */
const acceptsHtml = (c: Context): boolean =>
  accepts(c, { header: 'Accept', supports: ['text/html', 'application/json'], default: 'application/json' }) ===
  'text/html';

/** Adds the headers that the handler has not set. */
function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers))
    if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}

async function run(
  c: Context,
  route: Route,
  { accessControl, store, idempotently, clock }: MountOptions,
  headers: Record<string, string>,
  request: ObservedRequest,
) {
  const { spec } = route;
  let principal: Principal | undefined;
  if (!('public' in spec.access)) {
    const authorized = await accessControl.authorize(c, spec.access, route.organizationParam !== undefined);
    principal = authorized.principal;
    request.identify(principal);
    Object.assign(headers, authorized.headers);
  }
  const addressed = spec.params?.safeParse(c.req.param());
  if (addressed && !addressed.success) throw notFound();
  let organization: Organization | undefined;
  if (route.organizationParam && principal && !('public' in spec.access)) {
    const id = c.req.param(route.organizationParam) ?? '';
    ({ organization, principal } = await accessControl.enter(principal, id, spec.access));
    request.actsOn(organization.id);
  }
  const params = addressed?.data;
  const given = principal ? readQuery(c, spec.query) : c.req.query();
  if (principal) requireKnown('query', spec.query, given);
  const query = parse(spec.query, given, 'query');
  const body = spec.body ? await readers[spec.bodyType ?? 'application/json'](c.req.raw) : undefined;
  if (body && spec.bodyType !== 'text/plain') requireKnown('body', spec.body, body.value);
  const author = principal && authorOf(principal, organization, request.id);
  const commit: Transact = (work) =>
    store.transaction((tables) => (author ? recordWrites(tables, author, new Date(clock.now()), work) : work(tables)));
  const sent = parse(spec.body, body?.value, 'body');
  const call = { c, params, query, body: sent, principal, organization, author, commit, requestId: request.id };
  if (route.authorize) await route.authorize(call);

  const key = spec.idempotent ? c.req.header('idempotency-key') : undefined;
  if (key === undefined || !organization || !principal) {
    const result = await route.handle(call);
    return result instanceof Response ? result : (route.reveal?.(result, principal) ?? result);
  }
  const requestText = `${c.req.method} ${c.req.path}\n${new URL(c.req.url).search}\n${body?.text ?? ''}`;
  const about = { organizationId: organization.id, key, request: requestText, principal: principal.type };
  const response = await idempotently({ ...about, transact: commit }, async (once) => {
    const result = await route.handle({ ...call, commit: once });
    if (result instanceof Response) throw new TypeError(`${spec.operation} returns a Response, which can't be stored.`);
    return result;
  });
  return route.reveal?.(response, principal) ?? response;
}

const readers = {
  'application/json': readBody,
  'application/x-www-form-urlencoded': readFormBody,
  'text/plain': readTextBody,
} as const;

function parse(schema: z.ZodType | undefined, value: unknown, part: string): unknown {
  if (!schema) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, 20).map(({ path, message }) => ({
    path: path.map((key) => `/${String(key)}`).join(''),
    message,
  }));
  throw invalidRequest(`The ${part} of this request is not valid.`, { issues });
}
