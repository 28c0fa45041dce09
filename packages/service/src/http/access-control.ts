import type { Context } from 'hono';
import { requirePermissions } from '../auth/key-permissions.js';
import { permissionsIn } from '../auth/organization-role.js';
import { inOrganization, mayActOn, type Principal, type UserPrincipal } from '../auth/principal.js';
import { unauthenticated, type Principals } from '../auth/principals.js';
import { isAccessToken } from '../auth/user-tokens.js';
import type { BillingGrant } from '../store/billing-roles.js';
import type { Organization } from '../store/store.js';
import { ApiError, forbidden, invalidRequest, notFound } from '../api-error.js';
import type { ClientAddress } from './client-address.js';
import type { RateLimits } from './rate-limits.js';
import { neededPermissions, type Access } from './route.js';

type Policy = Exclude<Access, { public: true }>;

/** Authenticates, rate-limits and authorizes requests. */
export interface AccessControl {
  /**
   * Checks a request against the access policy of its route.
   * @param inOrganization whether the route names an organization, so that `enter` checks what a user
   *   may do there
   * @returns the caller and the rate-limit headers of the response
   * @throws ApiError 400, 401, 403 or 429
   */
  authorize(
    c: Context,
    access: Policy,
    inOrganization?: boolean,
  ): Promise<{ principal: Principal; headers: Record<string, string> }>;
  /**
   * Returns the organization with this id, and the caller with the permissions that it has there.
   * @throws ApiError 404 if the caller has no access to it, 403 if it is not the session's or if a user
   *   lacks a permission there, 429
   */
  enter(
    principal: Principal,
    id: string,
    access: Policy,
  ): Promise<{ organization: Organization; principal: Principal }>;
  /**
   * Counts an unauthenticated request against its client address, and returns the rate-limit
   * headers.
   */
  countAnonymous(c: Context): Promise<Record<string, string>>;
  /** Returns the client address of a request. */
  addressOf(c: Context): string;
}

export interface AccessControlOptions {
  principals: Principals;
  limits: RateLimits;
  clientAddress: ClientAddress;
  /** Origins that serve the form. */
  embedOrigins: ReadonlySet<string>;
  /** Origins of pages that users sign in to. */
  consoleOrigins: ReadonlySet<string>;
}

/**
 * Creates the access control. It runs the cheapest and least revealing checks first:
 * 1. reject browser requests from any page other than the form and the consoles
 * 2. require exactly one credential, which must be known; count failures by client address
 * 3. count the request by API key, user or session, and by organization
 * 4. accept a session only on routes that allow it and from the page it was created for, a user only
 *    from a console, and never an API key from a browser
 * 5. require the permissions of the route from an API key or a user
 */
export function createAccessControl({
  principals,
  limits,
  clientAddress,
  embedOrigins,
  consoleOrigins,
}: AccessControlOptions): AccessControl {
  const addressOf = (c: Context): string => clientAddress(peerOf(c), c.req.header('x-forwarded-for'));
  const countAnonymous = (c: Context): Promise<Record<string, string>> => limits.consume({ address: addressOf(c) });

  function identify(c: Context, cached: boolean): Promise<Principal> {
    const { type, text } = readCredential(c);
    if (type === 'key') return principals.fromApiKey(text, cached);
    return isAccessToken(text) ? principals.fromUser(text, cached) : principals.fromSession(text, cached);
  }

  /**
   * Returns a user as the owner of billing accounts: by a role of the account that the request names, or
   * by a role in an organization.
   * @throws ApiError 403 if no role has the permissions, 404 if only roles of other accounts have them
   */
  async function asOwner(c: Context, principal: UserPrincipal, access: Policy): Promise<UserPrincipal> {
    const isMember = neededPermissions(access).every((permission) => principal.permissions.has(permission));
    const grants = access.owner === true ? [] : allowed(await principals.billingGrants(principal), access);
    if (grants.length === 0) {
      requireAccess(principal, access, 'Your roles lack the permission');
      return inOwner(principal, access);
    }
    const id = c.req.param('id');
    const accountId =
      id === undefined
        ? c.req.query('billing_account_id')
        : access.owner === 'quota'
          ? await principals.accountOfQuota(id)
          : id;
    const grant = grants.find(({ billingAccountId }) => billingAccountId === accountId);
    if (grant)
      return { ...principal, organizationId: grant.ownerOrganizationId, permissions: new Set(grant.permissions) };
    if (isMember) return { ...inOwner(principal, access), billingAccountIds: idsOf(grants) };
    if (id !== undefined) throw notFound();
    if (accountId !== undefined) throw forbidden('None of your roles on this billing account has the permission.');
    return { ...principal, permissions: new Set(neededPermissions(access)), billingAccountIds: idsOf(grants) };
  }

  return {
    countAnonymous,
    addressOf,

    async authorize(c, access, inOrganization = false) {
      const origin = c.req.header('origin');
      if (origin !== undefined && !embedOrigins.has(origin) && !consoleOrigins.has(origin)) {
        const message = 'Only the form, and the pages in CONSOLE_ORIGINS, may call this API from a browser.';
        throw new ApiError(403, 'origin_not_allowed', message);
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
        requireAccess(principal, access, 'This API key lacks the permission');
        return { principal, headers };
      }
      if (principal.type === 'user') {
        const headers = await limits.consume({ user: principal.user.id });
        if (origin !== undefined && !consoleOrigins.has(origin)) {
          throw new ApiError(403, 'origin_not_allowed', 'Tokens of users are accepted from CONSOLE_ORIGINS only.');
        }
        if (access.owner) return { principal: await asOwner(c, principal, access), headers };
        if (!inOrganization) requireAccess(principal, access, 'Your roles lack the permission');
        return { principal, headers };
      }
      const { id, organizationId, parentOrigins } = principal.session;
      const headers = await limits.consume({ session: id, organization: organizationId });
      if (access.session === 'deny') throw forbidden('Sessions may not call this route. Use an API key.');
      if (origin !== undefined && !embedOrigins.has(origin)) {
        throw new ApiError(403, 'origin_not_allowed', 'Sessions are accepted from the form only.');
      }
      const parent = c.req.header('connector-frame-parent');
      if (parent !== undefined && !parentOrigins.includes(parent)) {
        throw new ApiError(403, 'origin_not_allowed', 'This session was created for another page.');
      }
      return { principal, headers };
    },

    async enter(principal, id, access) {
      // Checked before the lookup: a session must learn nothing about other organizations.
      if (principal.type === 'session' && principal.session.organizationId !== id) {
        throw forbidden('This session belongs to another organization.');
      }
      const organization = await principals.organization(id);
      if (principal.type !== 'user') {
        if (!organization || !mayActOn(principal, organization)) throw notFound();
        return { organization, principal };
      }
      const there = organization && inOrganization(principal, organization);
      if (!there) throw notFound();
      await limits.consume({ organization: organization.id });
      requireAccess(there, access, 'Your role in this organization lacks the permission');
      return { organization, principal: there };
    },
  };
}

/**
 * Returns a user in the one organization in which a role of theirs has the permissions of a route.
 * @throws ApiError 403 if there is none, or more than one
 */
function inOwner(principal: UserPrincipal, access: Policy): UserPrincipal {
  const needed = neededPermissions(access);
  const [own, ...others] = principal.memberships
    .map((membership) => ({ organizationId: membership.organizationId, permissions: permissionsIn(membership) }))
    .filter(({ permissions }) => needed.every((permission) => permissions.has(permission)));
  if (!own) throw forbidden('No single role of yours has all permissions of this route.');
  if (others.length > 0)
    throw forbidden('You may do this in more than one organization. Use an API key of the one that you mean.');
  return { ...principal, ...own };
}

/** Returns the billing accounts on which the permissions of a route are granted, one grant for each account. */
function allowed(grants: readonly BillingGrant[], access: Policy): BillingGrant[] {
  const byAccount = new Map<string, BillingGrant>();
  for (const grant of grants) {
    const before = byAccount.get(grant.billingAccountId)?.permissions ?? [];
    byAccount.set(grant.billingAccountId, { ...grant, permissions: [...before, ...grant.permissions] });
  }
  const needed = neededPermissions(access);
  return [...byAccount.values()].filter(({ permissions }) => needed.every((each) => permissions.includes(each)));
}

const idsOf = (grants: readonly BillingGrant[]): string[] => grants.map(({ billingAccountId }) => billingAccountId);

/** Requires the permissions of a route, which a key has everywhere, and a user in an organization. */
function requireAccess(principal: Principal, access: Policy, lacks: string): void {
  requirePermissions(principal, neededPermissions(access), lacks);
  if (access.operator && !(principal.type === 'key' && principal.key.isOperator)) {
    throw forbidden('Only an API key of the operator may call this route: SERVICE_API_KEY, or one of "bootstrap".');
  }
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
    'Send an API key as "x-api-key: <key>" or "Authorization: ApiKey <key>", or the token of a user or a session as "Authorization: Bearer <token>".',
  );
}

function peerOf(c: Context): string | undefined {
  const env: { incoming?: { socket?: { remoteAddress?: string } } } | undefined = c.env;
  return env?.incoming?.socket?.remoteAddress;
}
