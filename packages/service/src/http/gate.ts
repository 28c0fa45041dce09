import type { Context } from 'hono';
import { mayActOn, type Principal } from '../auth/principal.js';
import { unauthenticated, type Principals } from '../auth/principals.js';
import type { Organization } from '../store/store.js';
import { ApiError, forbidden, invalidRequest, notFound } from './api-error.js';
import type { ClientAddress } from './client-address.js';
import type { RateLimits } from './rate-limits.js';
import type { Access } from './route.js';

/** Decides whether a request comes in. */
export interface Gate {
  /** @returns the caller and the rate-limit headers of the answer; throws ApiError 400, 401, 403 or 429 */
  admit(
    c: Context,
    access: Exclude<Access, { public: true }>,
  ): Promise<{ principal: Principal; headers: Record<string, string> }>;
  /** @throws ApiError 404 for an organization the key has no part in, 403 for one that is not the session's */
  organization(principal: Principal, id: string): Promise<Organization>;
  /** Counts a request that nobody answers for. */
  countStranger(c: Context): Promise<Record<string, string>>;
}

export interface GateOptions {
  principals: Principals;
  limits: RateLimits;
  clientAddress: ClientAddress;
  /** Origins that serve the form. */
  embedOrigins: ReadonlySet<string>;
}

/**
 * In this order, so that what is cheap and what tells least comes first:
 * 1. a browser page that is not our form is refused
 * 2. one credential, and it must be known; strangers are counted by address
 * 3. known callers are counted by key or session, and by organization
 * 4. a session comes only where routes allow it, from the page it was made for; a key never comes from a browser
 * 5. a key needs the permission
 */
export function createGate({ principals, limits, clientAddress, embedOrigins }: GateOptions): Gate {
  const countStranger = (c: Context): Promise<Record<string, string>> =>
    limits.consume({ address: clientAddress(peerOf(c), c.req.header('x-forwarded-for')) });

  async function identify(c: Context): Promise<Principal> {
    try {
      const credential = readCredential(c);
      return await (credential.type === 'key'
        ? principals.fromApiKey(credential.text)
        : principals.fromSession(credential.text));
    } catch (error) {
      if (error instanceof ApiError) await countStranger(c);
      throw error;
    }
  }

  return {
    countStranger,

    async admit(c, access) {
      const origin = c.req.header('origin');
      if (origin !== undefined && !embedOrigins.has(origin)) {
        throw new ApiError(403, 'origin_not_allowed', 'Only the form itself may call this API from a browser.');
      }
      const principal = await identify(c);
      if (principal.type === 'key') {
        const { id, organizationId, permissions } = principal.key;
        const headers = await limits.consume({ key: id, organization: organizationId });
        if (origin !== undefined) {
          throw forbidden(
            'An API key must never be used in a browser. Revoke this one, and mint sessions on your backend.',
          );
        }
        if (access.permission !== 'any' && !permissions.includes(access.permission)) {
          throw forbidden(`This API key lacks the permission "${access.permission}".`);
        }
        return { principal, headers };
      }
      const { id, organizationId, parentOrigins } = principal.session;
      const headers = await limits.consume({ session: id, organization: organizationId });
      if (access.session === 'deny') throw forbidden('A session may not do this; use an API key on your backend.');
      const parent = c.req.header('connector-frame-parent');
      if (parent !== undefined && !parentOrigins.includes(parent)) {
        throw new ApiError(403, 'origin_not_allowed', 'This session was made for another page.');
      }
      return { principal, headers };
    },

    async organization(principal, id) {
      // Before any look-up: a session learns nothing about other organizations.
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
