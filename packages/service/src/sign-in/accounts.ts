import { randomUUID } from 'node:crypto';
import { signInAuthor } from '../audit/author.js';
import { recordWrites } from '../audit/record-writes.js';
import { defaultRole } from '../permissions.js';
import type { Clock } from '../clock.js';
import type { Invitation } from '../store/invitations.js';
import type { Organization, Store, Tables } from '../store/store.js';
import type { SsoConnection } from '../store/sso-connections.js';
import type { SignInMethod } from '../store/tables.js';
import type { IdentityKey, LocalCredentials, User } from '../store/users.js';
import { domainOf, readEmail } from './email.js';
import type { OidcIdentity } from './oidc.js';
import type { SamlIdentity } from './saml.js';
import { SignInProblem } from './sign-in-problem.js';

/** Finds, creates and links the accounts of people who sign in. */
export interface Accounts {
  /**
   * Returns the user of an identity of the operator's provider. A known identity is recognized by its
   * issuer and subject alone. A new one is linked to the account with its confirmed address, or gets one
   * by an invitation.
   * @throws SignInProblem
   */
  ofOidc(identity: OidcIdentity, invitationId: string | undefined, requestId: string): Promise<User>;
  /**
   * Returns the user of an identity of a connection. These users belong to the connection: its provider
   * reaches no other account, whatever address it sends.
   * @throws SignInProblem
   */
  ofSaml(
    connection: SsoConnection,
    identity: Pick<SamlIdentity, 'nameId' | 'email' | 'name'>,
    invitationId: string | undefined,
    requestId: string,
  ): Promise<User>;
  /** Creates a local account by an invitation. @throws SignInProblem */
  createLocal(account: NewLocalAccount, invitationId: string, requestId: string): Promise<User>;
  /** Accepts an invitation as a user who has signed in. @throws SignInProblem */
  accept(user: User, method: SignInMethod, invitationId: string, requestId: string): Promise<void>;
  /** Returns an invitation that has not expired, with its organization. @throws SignInProblem `used` */
  invitation(id: string): Promise<{ invitation: Invitation; organization: Organization }>;
}

/** A local account to create. */
export interface NewLocalAccount {
  /** Decided before, because it is part of what seals the second factor. */
  id: string;
  username: string;
  credentials: Omit<LocalCredentials, 'userId' | 'updatedAt'>;
}

export function createAccounts({ store, clock }: { store: Store; clock: Clock }): Accounts {
  const nowDate = (): Date => new Date(clock.now());

  const newUser = (
    email: string,
    username: string | undefined,
    values: Pick<User, 'connectionId' | 'emailVerifiedAt'> & { id?: string },
  ): User => ({
    id: randomUUID(),
    ...values,
    email,
    username: (username ?? '').trim().slice(0, 200) || email,
    createdAt: nowDate(),
    updatedAt: nowDate(),
  });

  const link = (tables: Tables, user: User, key: IdentityKey): Promise<void> =>
    tables.users.addIdentity({ id: randomUUID(), userId: user.id, ...key, createdAt: nowDate() });

  const recorded = <T>(
    user: User,
    method: SignInMethod,
    requestId: string,
    work: (tables: Tables) => Promise<T>,
  ): Promise<T> =>
    store.transaction((tables) => recordWrites(tables, signInAuthor(user, method, requestId), nowDate(), work));

  /**
   * Turns an invitation into a membership, and removes it: two requests with the same link can't both
   * succeed.
   */
  async function join(tables: Tables, user: User, { organizationId, id }: Invitation): Promise<void> {
    await tables.organizations.lock(organizationId);
    const invitation = await tables.invitations.lock(organizationId, id);
    if (!invitation || invitation.expiresAt.getTime() <= clock.now()) throw new SignInProblem('used');
    if (invitation.email !== user.email) throw new SignInProblem('other_address');
    const { roleId } = invitation;
    if (!defaultRole(roleId) && !(await tables.roles.hold(organizationId, roleId))) throw new SignInProblem('used');
    const before = await tables.memberships.lock(organizationId, user.id);
    const values = { roleId, updatedAt: nowDate(), user };
    if (before) await tables.memberships.update({ ...before, ...values });
    else {
      await tables.memberships.insert({ organizationId, userId: user.id, createdAt: nowDate(), ...values });
    }
    await tables.invitations.remove(organizationId, id);
  }

  async function invitationWith(id: string): Promise<{ invitation: Invitation; organization: Organization }> {
    const invitation = await store.invitations.get(id);
    const organization = invitation && (await store.organizations.get(invitation.organizationId));
    if (!organization || invitation.expiresAt.getTime() <= clock.now()) throw new SignInProblem('used');
    return { invitation, organization };
  }

  /** Keeps address and name up to date, unless another account has the address. */
  async function refreshed(user: User, email: string | undefined, username: string | undefined): Promise<User> {
    const changed = {
      email: email ?? user.email,
      username: (username ?? '').trim().slice(0, 200) || user.username,
    };
    if (changed.email === user.email && changed.username === user.username) return user;
    const other =
      changed.email === user.email ? undefined : await store.users.byEmail(changed.email, user.connectionId);
    if (other) changed.email = user.email;
    const next = { ...user, ...changed, updatedAt: nowDate() };
    await store.users.change(next);
    return next;
  }

  async function accept(user: User, method: SignInMethod, invitationId: string, requestId: string): Promise<void> {
    const { invitation } = await invitationWith(invitationId);
    await recorded(user, method, requestId, (tables) => join(tables, user, invitation));
  }

  return {
    accept,
    invitation: invitationWith,

    async ofOidc(identity, invitationId, requestId) {
      const key: IdentityKey = { provider: 'oidc', issuer: identity.issuer, subject: identity.subject };
      const email = readEmail(identity.email);
      const known = await store.users.byIdentity(key);
      if (known) {
        const user = await refreshed(known, identity.emailVerified ? email : undefined, identity.name);
        if (invitationId !== undefined) await accept(user, 'oidc', invitationId, requestId);
        return user;
      }
      if (email === undefined || !identity.emailVerified) throw new SignInProblem('unverified');
      const invited = invitationId === undefined ? undefined : await invitationWith(invitationId);
      const before = await store.users.byEmail(email, null);
      if (!before && !invited) throw new SignInProblem('unknown');
      if (before) {
        // The address may have passed on to another person at the provider.
        const other = await store.users.identityAt(before.id, 'oidc', identity.issuer);
        // Another person may have created a local account with an unconfirmed address.
        const isDoubtful = before.emailVerifiedAt === null && (await store.users.credentials(before.id)) !== undefined;
        if (other || isDoubtful) throw new SignInProblem('taken');
      }
      const user = before ?? newUser(email, identity.name, { connectionId: null, emailVerifiedAt: nowDate() });
      await recorded(user, 'oidc', requestId, async (tables) => {
        if (before) await tables.users.change({ ...before, emailVerifiedAt: before.emailVerifiedAt ?? nowDate() });
        else await tables.users.create(user);
        await link(tables, user, key);
        if (invited) await join(tables, user, invited.invitation);
      });
      return user;
    },

    async ofSaml(connection, identity, invitationId, requestId) {
      const key: IdentityKey = { provider: 'saml', issuer: connection.id, subject: identity.nameId };
      const email = readEmail(identity.email);
      if (email === undefined) throw new SignInProblem('provider');
      const { emailDomains: domains } = connection;
      if (domains.length > 0 && !domains.includes(domainOf(email))) throw new SignInProblem('domain');
      const family = [connection.organizationId, ...(await store.organizations.teamIds(connection.organizationId))];
      const named = invitationId === undefined ? undefined : await invitationWith(invitationId);
      if (named && !family.includes(named.organization.id)) throw new SignInProblem('unknown');
      const known = await store.users.byIdentity(key);
      if (known) {
        const user = await refreshed(known, email, identity.name);
        if (named) await accept(user, 'saml', named.invitation.id, requestId);
        return user;
      }
      if (await store.users.byEmail(email, connection.id)) throw new SignInProblem('taken');
      // The provider of the organization confirms the address, so the link is not needed.
      const invitations = await store.invitations.of(email, family, nowDate());
      const user = newUser(email, identity.name, { connectionId: connection.id, emailVerifiedAt: nowDate() });
      const [first, ...rest] = named ? [named.invitation] : invitations;
      if (!first && connection.defaultRoleId === null) throw new SignInProblem('unknown');
      await recorded(user, 'saml', requestId, async (tables) => {
        await tables.users.create(user);
        await link(tables, user, key);
        if (first) await join(tables, user, first);
        else await joinByDefault(tables, user, connection);
      });
      // One transaction each: the audit log has one row per user and transaction.
      for (const invitation of rest) await accept(user, 'saml', invitation.id, requestId);
      return user;
    },

    async createLocal({ id, username, credentials }, invitationId, requestId) {
      const { invitation } = await invitationWith(invitationId);
      const emailVerifiedAt = invitation.mailed ? nowDate() : null;
      const user = newUser(invitation.email, username, { id, connectionId: null, emailVerifiedAt });
      await recorded(user, 'local', requestId, async (tables) => {
        const before = await tables.users.byEmail(user.email, null);
        if (before) throw new SignInProblem('taken');
        await tables.users.create(user);
        await link(tables, user, { provider: 'local', issuer: '', subject: user.id });
        await tables.users.setCredentials({ userId: user.id, ...credentials, updatedAt: nowDate() });
        await join(tables, user, invitation);
      });
      return user;
    },
  };

  async function joinByDefault(tables: Tables, user: User, connection: SsoConnection): Promise<void> {
    const { organizationId, defaultRoleId: roleId } = connection;
    if (roleId === null) throw new SignInProblem('unknown');
    await tables.organizations.lock(organizationId);
    const now = nowDate();
    await tables.memberships.insert({ organizationId, userId: user.id, roleId, createdAt: now, updatedAt: now, user });
  }
}
