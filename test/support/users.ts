import { randomUUID } from 'node:crypto';
import type { User } from '../../packages/service/src/store/users.js';
import type { TestService } from './service.js';

/** A user who has signed in. */
export interface SignedIn {
  id: string;
  email: string;
  signInId: string;
  /** Access token. */
  token: string;
}

/** Creates a user with a role and a sign-in, without signing in. */
export async function signedInUser(
  service: TestService,
  organizationId: string,
  roleId: string,
  email = `${randomUUID()}@example.com`,
): Promise<SignedIn> {
  const { store, clock } = service;
  const now = new Date(clock.now());
  const user: User = {
    id: randomUUID(),
    connectionId: null,
    email,
    username: 'Ana',
    emailVerifiedAt: now,
    createdAt: now,
    updatedAt: now,
  };
  await store.users.create(user);
  const identity = { id: randomUUID(), userId: user.id, provider: 'oidc', issuer: 'https://idp.example' } as const;
  await store.users.addIdentity({ ...identity, subject: user.id, createdAt: now });
  await store.memberships.insert({ organizationId, userId: user.id, roleId, createdAt: now, updatedAt: now, user });
  return { id: user.id, email, ...(await signIn(service, user)) };
}

/** Signs a user in again. */
export async function signIn(
  { store, clock, userTokens }: TestService,
  { id: userId }: Pick<User, 'id'>,
): Promise<Pick<SignedIn, 'signInId' | 'token'>> {
  const now = new Date(clock.now());
  const id = randomUUID();
  const expiresAt = new Date(clock.now() + 12 * 3_600_000);
  await store.signIns.start({
    id,
    userId,
    method: 'oidc',
    generation: 1,
    rotatedAt: now,
    createdAt: now,
    expiresAt,
  });
  return { signInId: id, token: (await userTokens.access({ id, userId }, 600)).token };
}

/** Stores a connection of an organization whose identity provider does not exist. */
export async function storedConnection({ store, clock }: TestService, organizationId: string): Promise<string> {
  const now = new Date(clock.now());
  const id = randomUUID();
  await store.ssoConnections.insert({
    id,
    organizationId,
    name: 'Okta',
    publicName: 'sso-1f0c',
    description: '',
    entityId: 'https://idp.example',
    metadataUrl: 'https://idp.example/metadata',
    emailDomains: [],
    defaultRoleId: null,
    sessionTimeout: null,
    idp: { signOnUrl: 'https://idp.example/sign-on', certificates: [] },
    idpReadAt: now,
    createdAt: now,
    updatedAt: now,
  });
  return id;
}
