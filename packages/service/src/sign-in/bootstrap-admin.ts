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
 * @throws Error if the mail server does not accept the invitation, which is withdrawn then
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

  async function invite(tables: Tables): Promise<Invited | undefined> {
    const known = await tables.users.byEmail(email, null);
    const memberships = known ? await tables.memberships.ofUser(known.id) : [];
    const isMember = memberships.some((membership) => membership.organizationId === organizationId);
    const before = await tables.invitations.lockOf(organizationId, email);
    if (isMember || (before && before.expiresAt > now)) return undefined;
    if (before) await tables.invitations.remove(organizationId, before.id);
    const token = randomBytes(32).toString('base64url');
    const id = randomUUID();
    await tables.invitations.insert({
      id,
      organizationId,
      email,
      roleId: defaultRoles.admin.id,
      digest: vault.digest('ticket', token),
      mailed: true,
      createdAt: now,
      expiresAt: new Date(now.getTime() + INVITATION_MS),
    });
    return { id, token };
  }

  const recorded = <T>(work: (tables: Tables) => Promise<T>): Promise<T> =>
    store.exclusive('bootstrap', (tables) => recordWrites(tables, serviceAuthor('bootstrap'), now, work));

  if (admin.hasProvider) return recorded(add);
  const invited = mailer && (await recorded(invite));
  if (!mailer || !invited) return undefined;
  try {
    await mailer.send({
      to: email,
      subject: 'Your account for Connector Frame',
      text: `You are the administrator of Connector Frame. Create your account:\n\n${publicUrl}${paths.link}?token=${invited.token}\n\nThe link is valid for seven days.\n`,
    });
  } catch (error) {
    // Otherwise the next start would take it for an invitation that was sent.
    await recorded(async ({ invitations }) => {
      if (await invitations.lock(organizationId, invited.id)) await invitations.remove(organizationId, invited.id);
    });
    throw error;
  }
  return 'invited';
}

/** An invitation that was stored, and the token of its link. */
interface Invited {
  id: string;
  token: string;
}
