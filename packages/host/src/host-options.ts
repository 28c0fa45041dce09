import type { ConnectorTypeId } from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/core/protocol';
import { isCleanupName, type CleanupName } from './cleanup-names.js';

type Awaitable<T> = T | Promise<T>;

/** Type ids that a host offers, by kind. A missing kind offers none. */
export type AllowedTypes = { readonly [Kind in ComponentKind]?: readonly ConnectorTypeId<Kind>[] };

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
   * Default: all types.
   */
  allow?: AllowedTypes;
  /** URL of the service, as browsers reach it. Default: `serviceUrl`. */
  apiBase?: string;
  /** URL of the form, as browsers reach it. Default: `<apiBase>/embed`. */
  frameOrigin?: string;
  /** Path prefix of the routes. Default: `/api`. */
  basePath?: string;
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

/** Options with defaults applied. */
export type CheckedOptions<Context> = Omit<HostOptions<Context>, 'cleanup'> &
  Required<Pick<HostOptions<Context>, 'apiBase' | 'frameOrigin' | 'basePath' | 'onError'>> & {
    cleanup: readonly [CleanupName, ...CleanupName[]];
  };

/**
 * Checks the options and applies defaults, so that a wrong deployment fails at startup.
 * @throws TypeError naming the option
 */
export function checkOptions<Context>(options: HostOptions<Context>): CheckedOptions<Context> {
  const serviceUrl = httpAddress('serviceUrl', options.serviceUrl);
  if (typeof options.apiKey !== 'string' || options.apiKey.trim() === '') {
    throw new TypeError('createHost: apiKey is missing. Create one in the service and pass it from the environment.');
  }
  if (typeof options.authorizeTenant !== 'function') {
    throw new TypeError(
      'createHost: authorizeTenant is missing. It decides which organization the signed-in user may act for: ' +
        '(request, tenantId) => organization id, or null to deny access.',
    );
  }
  if ((options.parentOrganizationId === undefined) !== (options.authorizeTeam === undefined)) {
    const [missing, given] =
      options.authorizeTeam === undefined
        ? ['authorizeTeam', 'parentOrganizationId']
        : ['parentOrganizationId', 'authorizeTeam'];
    throw new TypeError(`createHost: ${missing} is missing. ${given} enables POST /api/team, which needs both.`);
  }
  const apiBase = options.apiBase === undefined ? serviceUrl : httpAddress('apiBase', options.apiBase);
  return {
    ...options,
    cleanup: cleanupNames(options.cleanup ?? 'full'),
    serviceUrl,
    apiBase,
    frameOrigin:
      options.frameOrigin === undefined ? `${apiBase}/embed` : httpAddress('frameOrigin', options.frameOrigin),
    basePath: `/${(options.basePath ?? '/api').replace(/^\/+|\/+$/g, '')}`.replace(/^\/$/, ''),
    // oxlint-disable-next-line no-console -- the default log of a library that has no logger of its own
    onError: options.onError ?? ((error) => console.error('connector-frame host:', error)),
  };
}

function cleanupNames(given: unknown): [CleanupName, ...CleanupName[]] {
  const [first, ...more]: unknown[] = [given].flat();
  if (isCleanupName(first) && more.every(isCleanupName)) return [first, ...more];
  throw new TypeError(
    `createHost: cleanup must be "full", "keep-output" or "pipeline-only", or a list of them, got ${JSON.stringify(given)}`,
  );
}

function httpAddress(option: string, value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`createHost: ${option} must be an http(s) address, got ${JSON.stringify(value)}`);
  }
  return String(value).replace(/\/+$/, '');
}
