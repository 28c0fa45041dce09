import type { ConnectorTypeId } from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/core/protocol';
import type { CleanupName } from './cleanup-names.js';

type Awaitable<T> = T | Promise<T>;

/** Type ids that a host offers, by kind. A missing kind offers none. */
export type AllowedTypes = { readonly [Kind in ComponentKind]?: readonly ConnectorTypeId<Kind>[] };

/** Which routes a host has for pipelines. */
export type RouteSet = 'combined' | 'separate';

/** A team organization created through `POST /api/team`. */
export interface Team {
  id: string;
  name: string;
}

/**
 * Options of `createHost`. `Context` is what the framework passes along with the request: Express's
 * `req`, Hono's `c`, or nothing in plain fetch handlers.
 */
export interface HostOptions<Context = unknown> {
  /** URL of the service, as this server reaches it. */
  serviceUrl: string;
  /** API key of the service. It never leaves this server. */
  apiKey: string;
  /**
   * Returns the organization id of a tenant that the signed-in user may act for. Refuses by returning
   * `null`, `undefined` or `false`, or by throwing (403; throw `new HostError('unauthenticated', ...)`
   * for 401). Called before any call to the service. `tenantId` comes from the browser, so trust only
   * your own session. The body of the request has been read; headers and URL are unchanged.
   */
  authorizeTenant: (
    request: Request,
    tenantId: string,
    context: Context,
  ) => Awaitable<string | null | undefined | false>;
  /**
   * Type ids to offer. Filters the catalog, and restricts sessions and the inputs of pipelines.
   * `host.checkAllow()` compares it with the service's catalogs. Default: all types.
   */
  allow?: AllowedTypes;
  /** URL of the service, as browsers reach it. Default: `serviceUrl`. */
  apiBase?: string;
  /** URL of the form, as browsers reach it. Default: `<apiBase>/embed`. */
  frameOrigin?: string;
  /** Path prefix of the routes. Default: `/api`. */
  basePath?: string;
  /**
   * Routes for pipelines. `combined`: `build-pipeline` and `integration-action`. `separate`: one
   * route for each action, `ingress`, `egress`, `status`, `state` and `remove`. Default: `combined`.
   */
  routes?: RouteSet;
  /** Lifetime of a session in seconds, 300 to 3600. Default: that of the service, 1800. */
  sessionTtl?: number;
  /**
   * What deleting an integration removes: everything, everything except the output, or only the
   * pipeline. With a list, the page may choose among its members, and the first one is its default.
   * Default: `full`.
   */
  cleanup?: CleanupName | readonly CleanupName[];
  /** Origins that may embed the form with a session of this host. Default: all that the service allows. */
  parentOrigins?: readonly string[];
  /** Enables `POST /api/team`, together with `authorizeTeam`: the parent organization of new teams. */
  parentOrganizationId?: string;
  /** Returns whether the signed-in user may create a team with this name. */
  authorizeTeam?: (request: Request, name: string, context: Context) => Awaitable<boolean>;
  /** Called after a team was created. Store its id: `authorizeTenant` has to return it. */
  onTeamCreated?: (team: Team, request: Request, context: Context) => Awaitable<void>;
  /** Called with every error whose details are not sent to the browser. Default: `console.error`. */
  onError?: (error: unknown, request: Request) => void;
  /** Replaces the global `fetch` for calls to the service. */
  fetch?: typeof globalThis.fetch;
}
