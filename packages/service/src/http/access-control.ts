import type { Context } from 'hono';
import { requirePermissions } from '../auth/key-permissions.js';
import { mayActOn, type Principal } from '../auth/principal.js';
import { unauthenticated, type Principals } from '../auth/principals.js';
import type { Organization } from '../store/store.js';
import { ApiError, forbidden, invalidRequest, notFound } from '../api-error.js';
import type { ClientAddress } from './client-address.js';
import type { RateLimits } from './rate-limits.js';
import { neededPermissions, type Access } from './route.js';

/** Authenticates, rate-limits and authorizes requests. */
export interface AccessControl {
  /**
   * Checks a request against the access policy of its route.
   * @returns the caller and the rate-limit headers of the response
   * @throws ApiError 400, 401, 403 or 429
   */
  authorize(
    c: Context,
    access: Exclude<Access, { public: true }>,
  ): Promise<{ principal: Principal; headers: Record<string, string> }>;
  /**
   * Returns the organization with this id.
   * @throws ApiError 404 if the API key has no access to it, 403 if it is not the session's
   */
  organization(principal: Principal, id: string): Promise<Organization>;
  /**
   * Counts an unauthenticated request against its client address, and returns the rate-limit
   * headers.
   */
  countAnonymous(c: Context): Promise<Record<string, string>>;
}

export interface AccessControlOptions {
  principals: Principals;
  limits: RateLimits;
  clientAddress: ClientAddress;
  /** Origins that serve the form. */
  embedOrigins: ReadonlySet<string>;
}

/**
 * Creates the access control. It runs the cheapest and least revealing checks first:
 * 1. reject browser requests from any page other than the form
 * 2. require exactly one credential, which must be known; count failures by client address
 * 3. count the request by API key or session, and by organization
 * 4. accept a session only on routes that allow it and from the page it was created for; never
 *    accept an API key from a browser
 * 5. require the permissions of the route from an API key
 */
export function createAccessControl({
  principals,
  limits,
  clientAddress,
  embedOrigins,
}: AccessControlOptions): AccessControl {
  const countAnonymous = (c: Context): Promise<Record<string, string>> =>
    limits.consume({ address: clientAddress(peerOf(c), c.req.header('x-forwarded-for')) });

  function identify(c: Context, cached: boolean): Promise<Principal> {
    const { type, text } = readCredential(c);
    return type === 'key' ? principals.fromApiKey(text, cached) : principals.fromSession(text, cached);
  }

  return {
    countAnonymous,

    async authorize(c, access) {
      const origin = c.req.header('origin');
      if (origin !== undefined && !embedOrigins.has(origin)) {
        throw new ApiError(403, 'origin_not_allowed', 'Only the form may call this API from a browser.');
      }
      let principal: Principal;
      try {
        principal = await identify(c, access.cached ?? false);
      } catch (error) {
        if (error instanceof ApiError) await countAnonymous(c);
        throw error;
      }
      if (principal.type === 'key') {
        const { id, organizationId } = principal.key;
        const headers = await limits.consume({ key: id, organization: organizationId });
        if (origin !== undefined) {
          throw forbidden(
            'API keys are not accepted from browsers. Revoke this key, and create sessions on your backend.',
          );
        }
        requirePermissions(principal, neededPermissions(access), 'This API key lacks the permission');
        return { principal, headers };
      }
      const { id, organizationId, parentOrigins } = principal.session;
      const headers = await limits.consume({ session: id, organization: organizationId });
      if (access.session === 'deny') throw forbidden('Sessions may not call this route. Use an API key.');
      const parent = c.req.header('connector-frame-parent');
      if (parent !== undefined && !parentOrigins.includes(parent)) {
        throw new ApiError(403, 'origin_not_allowed', 'This session was created for another page.');
      }
      return { principal, headers };
    },

    async organization(principal, id) {
      // Checked before the lookup: a session must learn nothing about other organizations.
      if (principal.type === 'session' && principal.session.organizationId !== id) {
        throw forbidden('This session belongs to another organization.');
      }
      const organization = await principals.organization(id);
      if (!organization || !mayActOn(principal, organization)) throw notFound();
      return organization;
    },
  };
}

function readCredential(c: Context): { type: 'key' | 'session'; text: string } {
  const key = c.req.header('x-api-key');
  const authorization = c.req.header('authorization');
  if (key !== undefined && authorization !== undefined) {
    throw invalidRequest('Send one credential: x-api-key or Authorization, not both.');
  }
  if (key !== undefined) return { type: 'key', text: key };
  const [, scheme, text] = /^(\S+) +(\S+)$/.exec(authorization ?? '') ?? [];
  if (scheme !== undefined && text !== undefined) {
    if (scheme.toLowerCase() === 'apikey') return { type: 'key', text };
    if (scheme.toLowerCase() === 'bearer') return { type: 'session', text };
  }
  throw unauthenticated(
    'Send an API key as "x-api-key: <key>" or "Authorization: ApiKey <key>", or a session as "Authorization: Bearer <token>".',
  );
}

function peerOf(c: Context): string | undefined {
  const env: { incoming?: { socket?: { remoteAddress?: string } } } | undefined = c.env;
  return env?.incoming?.socket?.remoteAddress;
}
