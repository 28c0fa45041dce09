import { randomBytes, randomUUID } from 'node:crypto';
import { serviceAuthor } from '../audit/author.js';
import { recordWrites } from '../audit/record-writes.js';
import type { Clock } from '../clock.js';
import { defaultRoles } from '../permissions.js';
import type { Vault } from '../secrets/vault.js';
import type { Store, Tables } from '../store/store.js';
import type { Mailer } from './mailer.js';
import { paths } from './pages/sign-in-pages.js';

const INVITATION_MS = 7 * 86_400_000;

export interface FirstAdmin {
  organizationId: string;
  email: string;
  /** Whether users sign in at the operator's identity provider, which confirms the address. */
  hasProvider: boolean;
}

/**
 * Makes a person the administrator of an organization: at once if the identity provider confirms the
 * address, otherwise by an invitation. Does nothing if the person is a member or invited already, so it
 * is safe at every start.
 * @returns what was done, or `undefined`
 * @throws Error if the mail server does not accept the invitation; nothing is stored then
 */
export async function bootstrapAdmin(
  {
    store,
    vault,
    clock,
    mailer,
    publicUrl,
  }: { store: Store; vault: Vault; clock: Clock; mailer: Mailer | undefined; publicUrl: string },
  admin: FirstAdmin,
): Promise<'added' | 'invited' | undefined> {
  const now = new Date(clock.now());
  const { organizationId, email } = admin;

  async function add(tables: Tables): Promise<'added' | undefined> {
    const known = await tables.users.byEmail(email, null);
    const memberships = known ? await tables.memberships.ofUser(known.id) : [];
    if (memberships.some((membership) => membership.organizationId === organizationId)) return undefined;
    const created = { connectionId: null, email, username: email, emailVerifiedAt: null };
    const user = known ?? { id: randomUUID(), ...created, createdAt: now, updatedAt: now };
    if (!known) await tables.users.create(user);
    const role = { organizationId, userId: user.id, roleId: defaultRoles.admin.id };
    await tables.memberships.insert({ ...role, createdAt: now, updatedAt: now, user });
    return 'added';
  }

  async function invite(tables: Tables): Promise<'invited' | undefined> {
    const known = await tables.users.byEmail(email, null);
    const memberships = known ? await tables.memberships.ofUser(known.id) : [];
    const isMember = memberships.some((membership) => membership.organizationId === organizationId);
    const before = await tables.invitations.lockOf(organizationId, email);
    if (isMember || !mailer || (before && before.expiresAt > now)) return undefined;
    if (before) await tables.invitations.remove(organizationId, before.id);
    const token = randomBytes(32).toString('base64url');
    await tables.invitations.insert({
      id: randomUUID(),
      organizationId,
      email,
      roleId: defaultRoles.admin.id,
      digest: vault.digest('ticket', token),
      mailed: true,
      createdAt: now,
      expiresAt: new Date(now.getTime() + INVITATION_MS),
    });
    await mailer.send({
      to: email,
      subject: 'Your account for Connector Frame',
      text: `You are the administrator of Connector Frame. Create your account:\n\n${publicUrl}${paths.link}?token=${token}\n\nThe link is valid for seven days.\n`,
    });
    return 'invited';
  }

  return store.exclusive('bootstrap', (tables) =>
    recordWrites<'added' | 'invited' | undefined>(tables, serviceAuthor('bootstrap'), now, (recorded) =>
      admin.hasProvider ? add(recorded) : invite(recorded),
    ),
  );
}
