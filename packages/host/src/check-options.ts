import { checkAllowShape } from './check-allow.js';
import { isCleanupName, type CleanupName } from './cleanup-names.js';
import { closestName } from './closest-name.js';
import type { HostOptions, RouteSet } from './host-options.js';

/** Options with defaults applied. */
export type CheckedOptions<Context> = Omit<HostOptions<Context>, 'cleanup'> &
  Required<Pick<HostOptions<Context>, 'apiBase' | 'frameOrigin' | 'basePath' | 'routes' | 'onError'>> & {
    cleanup: readonly [CleanupName, ...CleanupName[]];
  };

/**
 * Checks the options and applies defaults, so that a wrong deployment fails at startup.
 * @throws TypeError naming the option
 */
export function checkOptions<Context>(options: HostOptions<Context>): CheckedOptions<Context> {
  checkNames(options);
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
  checkAllowShape(options.allow);
  checkSessionTtl(options.sessionTtl);
  const apiBase = options.apiBase === undefined ? serviceUrl : httpAddress('apiBase', options.apiBase);
  return {
    ...options,
    cleanup: cleanupNames(options.cleanup ?? 'full'),
    serviceUrl,
    apiBase,
    frameOrigin:
      options.frameOrigin === undefined ? `${apiBase}/embed` : httpAddress('frameOrigin', options.frameOrigin),
    basePath: `/${(options.basePath ?? '/api').replace(/^\/+|\/+$/g, '')}`.replace(/^\/$/, ''),
    routes: routeSet(options.routes ?? 'combined'),
    // oxlint-disable-next-line no-console -- the default log of a library that has no logger of its own
    onError: options.onError ?? ((error) => console.error('connector-frame host:', error)),
  };
}

/** Every option. The compiler checks that the list is complete. */
const optionNames: Readonly<Record<keyof HostOptions, true>> = {
  serviceUrl: true,
  apiKey: true,
  authorizeTenant: true,
  allow: true,
  apiBase: true,
  frameOrigin: true,
  basePath: true,
  routes: true,
  sessionTtl: true,
  cleanup: true,
  parentOrigins: true,
  parentOrganizationId: true,
  authorizeTeam: true,
  onTeamCreated: true,
  onError: true,
  fetch: true,
};

/** Rejects unknown options: a misspelled `allow` would offer every type. */
function checkNames(options: object): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(optionNames, name)) continue;
    const closest = closestName(name, Object.keys(optionNames));
    const remedy = closest ? `Write "${closest}".` : `The options are ${Object.keys(optionNames).join(', ')}.`;
    throw new TypeError(`createHost: "${name}" is not an option. ${remedy}`);
  }
}

/** Bounds of `sessionTtl` in seconds. */
const [minTtl, maxTtl] = [300, 3_600];

function checkSessionTtl(ttl: unknown): void {
  if (ttl === undefined || (Number.isInteger(ttl) && Number(ttl) >= minTtl && Number(ttl) <= maxTtl)) return;
  const seconds = Math.round(Number(ttl) > maxTtl * 10 ? Number(ttl) / 1_000 : Number(ttl));
  const nearest = Number.isNaN(seconds) ? 1_800 : Math.min(Math.max(seconds, minTtl), maxTtl);
  throw new TypeError(
    `createHost: sessionTtl must be a whole number of seconds from ${minTtl} to ${maxTtl}, got ${JSON.stringify(ttl)}. ` +
      `Write ${nearest}, or omit it for the service's default.`,
  );
}

function routeSet(given: unknown): RouteSet {
  if (given === 'combined' || given === 'separate') return given;
  throw new TypeError(`createHost: routes must be "combined" or "separate", got ${JSON.stringify(given)}`);
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
