import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Permission } from '../auth/permissions.js';
import type { Principal } from '../auth/principal.js';
import type { Organization, Tables } from '../store/store.js';

/**
 * Who may call a route. Every route decides: nobody (no credential is read), or which permission a key needs, and whether
 * the session of a frame may come too.
 */
export type Access = { public: true } | { permission: Permission | 'any'; session: 'allow' | 'deny' };

/** An answer as data, so that it can be kept and given again for the same `Idempotency-Key`. */
export interface Answer {
  status: 200 | 201 | 204 | 304;
  /** A text is sent as it is: JSON made before. So are bytes, with their `Content-Encoding` among the headers. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Adds to an answer, also to one that is given again, what must not be kept with it: secrets. */
export type Reveal = (answer: Answer, principal: Principal | undefined) => Answer;

/** Runs a handler's writes: all or nothing, and at most once per `Idempotency-Key`. */
export type Commit = (work: (tables: Tables) => Promise<Answer>) => Promise<Answer>;

/** What a handler gets. */
export interface Call<P, Q, B> {
  c: Context;
  params: P;
  query: Q;
  body: B;
  commit: Commit;
}

/** The caller is known. */
export interface KnownCall<P, Q, B> extends Call<P, Q, B> {
  principal: Principal;
}

/** The caller may act on the organization that the path names. */
export interface OrganizationCall<P, Q, B> extends KnownCall<P, Q, B> {
  organization: Organization;
}

type Schema = z.ZodType;
type Values<S> = S extends Schema ? z.output<S> : undefined;

export interface RouteSpec<P extends Schema | undefined, Q extends Schema | undefined, B extends Schema | undefined> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As in OpenAPI: `/v1/{org}/inputs/{id}`. */
  path: string;
  tag: string;
  /** Unique; camelCase. */
  operation: string;
  summary: string;
  description?: string;
  access: Access;
  params?: P;
  query?: Q;
  body?: B;
  /** Takes an `Idempotency-Key`; the handler writes through `commit` only. */
  idempotent?: boolean;
  /** Takes `If-Match`. */
  conditional?: boolean;
  answer: { status: 200 | 201 | 204; description: string; schema?: z.ZodType; contentType?: string };
  /** Refusals beside those that any route of its access has. */
  refusals?: readonly number[];
}

/** What `mountRoutes` needs to know of a route, whatever its handler takes. */
export interface Route {
  spec: RouteSpec<Schema | undefined, Schema | undefined, Schema | undefined>;
  /** Name of the path's parameter that holds an organization. */
  organizationParam?: 'org' | 'parent_org';
  /**
   * Checks the principal's scope beyond `access`, before a stored answer is replayed. Required where a session may send an
   * `Idempotency-Key`, because the handler does not run for a replay.
   * @throws ApiError
   */
  authorize?(call: RawCall): Promise<void> | void;
  handle(call: RawCall): Promise<Answer | Response> | Answer | Response;
  reveal?: Reveal;
}

/** Parts are already parsed by the route's own schemas. */
export interface RawCall extends Call<unknown, unknown, unknown> {
  principal: Principal | undefined;
  organization: Organization | undefined;
}

type Handler<C> = (call: C) => Promise<Answer | Response> | Answer | Response;
type Authorize<C> = (call: C) => Promise<void> | void;

/** `mountRoutes` parses each part with the route's schemas and finds who calls, so the call is what the handler takes. */
const taking = <R>(handler: (call: never) => R): ((call: RawCall) => R) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where data and types meet
  handler as (call: unknown) => R;

/** A route that anyone may call; no credential is read. */
export function publicRoute<P extends Schema | undefined = undefined, Q extends Schema | undefined = undefined>(
  spec: Omit<RouteSpec<P, Q, undefined>, 'access'>,
  handler: Handler<Call<Values<P>, Values<Q>, undefined>>,
): Route {
  return {
    spec: { ...spec, access: { public: true } },
    handle: taking(handler),
  };
}

/** A route for a known caller. */
export function route<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(spec: RouteSpec<P, Q, B>, handler: Handler<KnownCall<Values<P>, Values<Q>, Values<B>>>): Route {
  return { spec, handle: taking(handler) };
}

/**
 * A route under an organization: `{org}` or `{parent_org}` in its path.
 * @param authorize see `Route`
 */
export function organizationRoute<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(
  spec: RouteSpec<P, Q, B>,
  handler: Handler<OrganizationCall<Values<P>, Values<Q>, Values<B>>>,
  authorize?: Authorize<OrganizationCall<Values<P>, Values<Q>, Values<B>>>,
): Route {
  const organizationParam = /\{(org|parent_org)\}/.exec(spec.path)?.[1];
  if (organizationParam !== 'org' && organizationParam !== 'parent_org') {
    throw new TypeError(`The route ${spec.method} ${spec.path} names no organization.`);
  }
  return {
    spec,
    organizationParam,
    ...(authorize ? { authorize: taking(authorize) } : {}),
    handle: taking(handler),
  };
}
