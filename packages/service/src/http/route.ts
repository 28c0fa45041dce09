import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { ApiError } from '../api-error.js';
import type { Author } from '../audit/author.js';
import type { Permission } from '../permissions.js';
import type { Principal } from '../auth/principal.js';
import type { Organization, Tables } from '../store/store.js';

/**
 * Access policy of a route: public (credentials are not read), or the permissions that an API key or
 * a user needs, all of them, and whether a session is allowed. With `cached`, the credential and its
 * role may have been read up to 0.4 s ago; only for routes that show nothing of an organization and
 * otherwise need no query. Everywhere else, a changed key or role acts on the next request.
 * `operator` also requires an API key of the operator. With `owner`, a user acts for the one organization
 * in which their roles have the permissions, as an API key does for its own; or for the owner of a billing
 * account, if a role of the account has the permissions. With `account`, the request names that account as
 * `{id}` or `billing_account_id`, or it is about all accounts of the caller; with `quota`, `{id}` is a quota.
 */
export type Access =
  | { public: true }
  | {
      permission: Permission | readonly Permission[] | 'any';
      session: 'allow' | 'deny';
      cached?: true;
      operator?: true;
      owner?: true | 'account' | 'quota';
    };

/** Returns the permissions that a caller needs for a route. */
export function neededPermissions(access: Exclude<Access, { public: true }>): readonly Permission[] {
  const { permission } = access;
  return permission === 'any' ? [] : typeof permission === 'string' ? [permission] : permission;
}

/** A response as data, so that it can be stored and replayed for the same `Idempotency-Key`. */
export interface ResponseData {
  status: 200 | 201 | 202 | 204 | 304;
  /**
   * Strings (serialized JSON) and bytes are sent unchanged. `headers` must contain the
   * `Content-Encoding` of bytes.
   */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Adds secrets, which must not be stored, to a response. Also runs for replayed responses. */
export type Reveal = (response: ResponseData, principal: Principal | undefined) => ResponseData;

/** Runs writes in one transaction, which also appends their rows to the audit log. */
export type Transact = <T>(work: (tables: Tables) => Promise<T>) => Promise<T>;

/**
 * Runs a handler's writes in one transaction, which also appends their rows to the audit log, at most
 * once per `Idempotency-Key`.
 */
export type Commit = (work: (tables: Tables) => Promise<ResponseData>) => Promise<ResponseData>;

/** What a handler receives. */
export interface Call<P, Q, B> {
  c: Context;
  params: P;
  query: Q;
  body: B;
  commit: Commit;
  /** The `Request-Id` of the response. */
  requestId: string;
}

/** A call by an authenticated caller. */
export interface KnownCall<P, Q, B> extends Call<P, Q, B> {
  principal: Principal;
  /** For `recordEffect`. What `commit` changes is recorded without it. */
  author: Author;
}

/** A call by a caller who may act on the organization in the path. */
export interface OrganizationCall<P, Q, B> extends KnownCall<P, Q, B> {
  organization: Organization;
}

type Schema = z.ZodType;
type Values<S> = S extends Schema ? z.output<S> : undefined;

export interface RouteSpec<P extends Schema | undefined, Q extends Schema | undefined, B extends Schema | undefined> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Path as in OpenAPI: `/v1/{org}/inputs/{id}`. */
  path: string;
  tag: string;
  /** Unique; camelCase. */
  operation: string;
  /** One line. */
  summary: string;
  /** What a caller needs to know besides the summary; Markdown. Tests reject a copy of the summary. */
  description: string;
  access: Access;
  params?: P;
  query?: Q;
  body?: B;
  /** Default: JSON. The schema of a text is `z.string()`. A form is sent by a page of the service. */
  bodyType?: 'text/plain' | 'application/x-www-form-urlencoded';
  /** An example of the body. Required for a text; the schema of a JSON body contains its own. */
  bodyExample?: string;
  /** Accepts an `Idempotency-Key`. The handler must write through `commit` only. */
  idempotent?: boolean;
  /** Accepts `If-Match`. */
  conditional?: boolean;
  /** Successful responses can have an `ETag`. If it reads, it accepts `If-None-Match` and can answer 304. */
  etag?: boolean;
  /** An event stream that accepts `Last-Event-ID`. */
  resumes?: boolean;
  response: RouteResponse;
  /** The route may also redirect with this status. */
  redirect?: 303;
  /**
   * Error statuses besides those that the other properties imply: a list, or by status the cause in
   * this operation.
   */
  errorStatuses?: readonly number[] | Readonly<Record<number, string | TextError>>;
}

/** The successful response of a route. */
export interface RouteResponse {
  status: 200 | 201 | 202 | 204 | 307;
  description: string;
  schema?: z.ZodType;
  /** Default: JSON. Several for a file, whose name determines its type. */
  contentType?: string | readonly string[];
  /** Required for a content type other than JSON. */
  example?: unknown;
  /** Headers besides those that the other properties imply, with their descriptions. */
  headers?: Readonly<Record<string, string>>;
}

/** An error that a page or an image shows: plain text instead of JSON. */
export interface TextError {
  description: string;
  text: string;
}

/** A route as `mountRoutes` sees it, independent of the types of its handler. */
export interface Route {
  spec: RouteSpec<Schema | undefined, Schema | undefined, Schema | undefined>;
  /** Path parameter that contains the id of the organization. */
  organizationParam?: 'org' | 'parent_org';
  /**
   * Checks the principal's scope beyond `access`, before a stored response is replayed. Required
   * where a session may send an `Idempotency-Key`, because the handler does not run for a replay.
   * @throws ApiError
   */
  authorize?(call: RawCall): Promise<void> | void;
  handle(call: RawCall): Promise<ResponseData | Response> | ResponseData | Response;
  reveal?: Reveal;
  /** Responds to an error with a page, because a person reads it. Default: JSON. */
  renderError?: (rejection: ApiError) => Promise<Response>;
  /** Only requests that accept HTML get the page of `renderError`; programs get JSON. */
  negotiatesErrors?: true;
}

/** A call whose parts the route's own schemas have parsed. */
export interface RawCall extends Call<unknown, unknown, unknown> {
  principal: Principal | undefined;
  author: Author | undefined;
  organization: Organization | undefined;
}

type Handler<C> = (call: C) => Promise<ResponseData | Response> | ResponseData | Response;
type Authorize<C> = (call: C) => Promise<void> | void;

/**
 * Erases the type of a handler's call. This is safe, because `mountRoutes` parses each part with
 * the route's schemas and identifies the caller first.
 */
const taking = <R>(handler: (call: never) => R): ((call: RawCall) => R) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where data and types meet
  handler as (call: unknown) => R;

/** Defines a public route; credentials are not read. */
export function publicRoute<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(spec: Omit<RouteSpec<P, Q, B>, 'access'>, handler: Handler<Call<Values<P>, Values<Q>, Values<B>>>): Route {
  return {
    spec: { ...spec, access: { public: true } },
    handle: taking(handler),
  };
}

/** Defines a route for authenticated callers. */
export function route<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(spec: RouteSpec<P, Q, B>, handler: Handler<KnownCall<Values<P>, Values<Q>, Values<B>>>): Route {
  return { spec, handle: taking(handler) };
}

/**
 * Defines a route under an organization: its path contains `{org}` or `{parent_org}`.
 * @param authorize see `Route`
 * @throws TypeError if the path contains neither
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
    throw new TypeError(`The route ${spec.method} ${spec.path} has no organization parameter in its path.`);
  }
  return {
    spec,
    organizationParam,
    ...(authorize ? { authorize: taking(authorize) } : {}),
    handle: taking(handler),
  };
}
