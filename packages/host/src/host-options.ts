import type { ConnectorTypeId } from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/core/protocol';
import { isCleanupName, type CleanupName } from './cleanup-names.js';

type Awaitable<T> = T | Promise<T>;

/** Type ids a host offers, by kind. A kind that is not named offers none. */
export type AllowedTypes = { readonly [Kind in ComponentKind]?: readonly ConnectorTypeId<Kind>[] };

/** A team organization made through `POST /api/team`. */
export interface Team {
  id: string;
  name: string;
}

/** `Context` is what the framework hands over beside the request: Express' `req`, Hono's `c`; nothing in plain fetch handlers. */
export interface HostOptions<Context = unknown> {
  /** Address of the service as this server reaches it. */
  serviceUrl: string;
  /** The long-lived API key. It never leaves this server. */
  apiKey: string;
  /**
   * Answers the organization id of a tenant that the signed-in person may act for; refuses with `null`, `undefined`,
   * `false` or by throwing (403; throw `new HostError('unauthenticated', ...)` for 401). Nothing is asked of the service before
   * it has answered. `tenantId` comes from the browser, so trust only your own sign-in. The request's body is read already;
   * headers, cookies and address are as they came.
   */
  authorizeTenant: (
    request: Request,
    tenantId: string,
    context: Context,
  ) => Awaitable<string | null | undefined | false>;
  /** Type ids to offer. Filters the catalog, narrows every session, and keeps pipelines to inputs of these types. Absent: all types. */
  allow?: AllowedTypes;
  /** Address of the service as browsers reach it. Default: `serviceUrl`. */
  apiBase?: string;
  /** Address of the form's page as browsers reach it. Default: `<apiBase>/embed`. */
  frameOrigin?: string;
  /** Where the routes stand. Default: `/api`. */
  basePath?: string;
  /** Lifetime of a session in seconds, 300 to 3600. Default: the service's, 1800. */
  sessionTtl?: number;
  /**
   * What `delete` of an integration deletes: everything, all but the output, or the pipeline alone. A list also lets the page
   * choose among its members; the first is the default. Default: `full`.
   */
  cleanup?: CleanupName | readonly CleanupName[];
  /** Origins that may frame the form with a session of this host. Default: all that the service allows. */
  parentOrigins?: readonly string[];
  /** Switches on `POST /api/team`, together with `authorizeTeam`: teams are made below this organization. */
  parentOrganizationId?: string;
  /** Whether the signed-in person may make a team with this name. */
  authorizeTeam?: (request: Request, name: string, context: Context) => Awaitable<boolean>;
  /** Record the new team's id here: `authorizeTenant` will be asked for it. */
  onTeamCreated?: (team: Team, request: Request, context: Context) => Awaitable<void>;
  /** Told of every failure whose details the browser does not see. Default: `console.error`. */
  onError?: (error: unknown, request: Request) => void;
  /** Stands in for the global `fetch` towards the service. */
  fetch?: typeof globalThis.fetch;
}

/** Options with their defaults in place. */
export type CheckedOptions<Context> = Omit<HostOptions<Context>, 'cleanup'> &
  Required<Pick<HostOptions<Context>, 'apiBase' | 'frameOrigin' | 'basePath' | 'onError'>> & {
    cleanup: readonly [CleanupName, ...CleanupName[]];
  };

/** Throws a TypeError that names the option, so that a wrong deployment fails when it starts and not at the first click. */
export function checkOptions<Context>(options: HostOptions<Context>): CheckedOptions<Context> {
  const serviceUrl = httpAddress('serviceUrl', options.serviceUrl);
  if (typeof options.apiKey !== 'string' || options.apiKey.trim() === '') {
    throw new TypeError('createHost: apiKey is missing. Create one in the service and pass it from the environment.');
  }
  if (typeof options.authorizeTenant !== 'function') {
    throw new TypeError(
      'createHost: authorizeTenant is missing. It decides which organization a signed-in person may act for: ' +
        '(request, tenantId) => organization id, or null to refuse.',
    );
  }
  if ((options.parentOrganizationId === undefined) !== (options.authorizeTeam === undefined)) {
    const [missing, given] =
      options.authorizeTeam === undefined
        ? ['authorizeTeam', 'parentOrganizationId']
        : ['parentOrganizationId', 'authorizeTeam'];
    throw new TypeError(`createHost: ${missing} is missing. ${given} switches on POST /api/team, which needs both.`);
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
