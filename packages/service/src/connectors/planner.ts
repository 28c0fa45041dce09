import type { Catalog } from '@connector-frame/catalog';
import type { ConnectorKind, ConnectorTypeData } from '@connector-frame/catalog/types';
import { hasPermission } from '../auth/key-permissions.js';
import { mayReferTo } from '../auth/session-scope.js';
import type { Principal } from '../auth/principal.js';
import { invalidRequest } from '../api-error.js';
import { consentExpired, type ConsentService } from '../oauth/consents.js';
import type { OrganizationVault } from '../secrets/vault.js';
import type { Organization, ReadTables } from '../store/store.js';
import { planWrite, type ConfigWrite, type WritePlan } from './plan-write.js';

export interface PlanScope {
  vault: OrganizationVault;
  /** Inside a transaction: the tables of that transaction. */
  tables: ReadTables;
  principal: Principal;
  organization: Organization;
}

/** Plans writes to connectors of one kind. */
export interface Planner {
  /**
   * Returns the connector type with this id.
   * @throws ApiError 400 if the id is absent or not in the catalog
   */
  type(typeId: string | undefined): ConnectorTypeData;
  plan(write: ConfigWrite, scope: PlanScope): Promise<WritePlan>;
}

export function createPlanner(
  { catalog, consents }: { catalog: Catalog; consents: ConsentService },
  kind: ConnectorKind,
): Planner {
  return {
    type(typeId) {
      const type = typeId === undefined ? undefined : catalog.get(kind, typeId);
      if (type) return type;
      const code = typeId === undefined ? 'required' : 'enum';
      throw invalidRequest(`The body must name a type of ${kind}, by its type_id.`, {
        issues: [{ path: '/type', code }],
      });
    },

    plan: (write, { vault: sealed, tables, principal, organization }) =>
      planWrite(write, {
        vault: sealed,
        // A session may keep the secrets of its own connector, but not use those of another one.
        find: async (id) => {
          const secret = principal.type !== 'session' ? await tables.secrets.get(organization.id, id) : undefined;
          return secret && tables.connectors.withSecrets(organization.id, secret.connectorId);
        },
        findShared: async (id) =>
          mayReferTo(principal, id) ? tables.organizationSecrets.usable(organization.id, id) : undefined,
        async findConsent(id, { type, field, destination }) {
          if (principal.type !== 'session' || type.oauth?.secret !== `/secrets/${field}`) throw consentExpired(field);
          return consents.take(id, principal.session, type, destination);
        },
        mayAdd: hasPermission(principal, 'secrets:write'),
        hasOutput: async (id, type) => (await tables.connectors.get(organization.id, 'output', id))?.type === type,
      }),
  };
}
