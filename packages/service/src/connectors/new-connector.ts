import { randomUUID } from 'node:crypto';
import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import type { Principal } from '../auth/principal.js';
import type { Clock } from '../clock.js';
import type { Ports } from './ports.js';
import type { OrganizationVault, Vault } from '../secrets/vault.js';
import type { Connector, Organization, ReadTables, SecretNote, Tables } from '../store/store.js';
import type { ConfigWrite, WritePlan } from './plan-write.js';
import type { Planner } from './planner.js';
import { holdOutput } from './referred-output.js';
import { storePlan } from './store-plan.js';

/** A validated connector that is not stored yet. */
export interface NewConnector {
  connector: Connector;
  plan: WritePlan;
  vault: OrganizationVault;
  /**
   * Stores the connector with its secrets and, if its type listens, a port.
   * @returns the stored row
   * @throws ApiError 409 `no_port`, 400 if the output that it names was deleted
   */
  insert(tables: Tables): Promise<[stored: Connector, notes: SecretNote[]]>;
}

/**
 * Validates a new connector.
 * @throws ApiError as `planWrite` does
 */
export async function newConnector(
  { store, vault: vaults, clock, ingest }: { store: ReadTables; vault: Vault; clock: Clock; ingest: { ports: Ports } },
  planner: Planner,
  given: {
    type: ConnectorTypeData;
    name: string;
    description: string;
    config: Pick<ConfigWrite, 'settings' | 'secrets'>;
    /** Issues found outside the configuration, such as in the name. */
    issues?: ConfigWrite['issues'];
  },
  { principal, organization }: { principal: Principal; organization: Organization },
): Promise<NewConnector> {
  const { type, name, description, config, issues = [] } = given;
  const vault = await vaults.ofOrganization(store, organization.id);
  const write = { type, settings: config.settings, secrets: config.secrets, issues };
  const plan = await planner.plan(write, { vault, tables: store, principal, organization });
  const now = new Date(clock.now());
  const connector: Connector = {
    id: randomUUID(),
    organizationId: organization.id,
    kind: type.kind,
    type: type.type_id,
    name,
    description,
    settings: plan.settings,
    version: 1,
    createdAt: now,
    updatedAt: now,
    port: null,
    refersTo: plan.output?.id ?? null,
  };
  return {
    connector,
    plan,
    vault,
    async insert(tables) {
      await holdOutput(tables, connector.organizationId, plan.output);
      const stored = { ...connector, port: await ingest.ports.take(tables, type) };
      await tables.connectors.insert(stored);
      return [stored, await storePlan(plan, { connector: stored, tables, vault, now })];
    },
  };
}
