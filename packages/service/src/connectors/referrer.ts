import { hasPermission } from '../auth/key-permissions.js';
import type { Principal } from '../auth/principal.js';
import type { OrganizationVault, Vault } from '../secrets/vault.js';
import type { ReadTables } from '../store/store.js';

/** What decides which secrets of an organization a configuration may refer to. */
export interface Referrer {
  organizationId: string;
  vault: OrganizationVault;
  /** Whether the caller may add destinations to secrets that are not restricted. */
  mayAdd: boolean;
}

/** Returns what the caller of a request may refer to. */
export async function referrerOf(
  { store, vault }: { store: ReadTables; vault: Vault },
  principal: Principal,
  organizationId: string,
): Promise<Referrer> {
  const mayAdd = hasPermission(principal, 'secrets:write');
  return { organizationId, vault: await vault.ofOrganization(store, organizationId), mayAdd };
}
