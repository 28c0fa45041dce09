import type { Catalog } from '@connector-frame/catalog';
import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { pruneConfig } from '@connector-frame/catalog/validate';
import {
  EndError,
  type Clock,
  type Components,
  type Input,
  type MissingPart,
  type Output,
  type TransformConfig,
} from '@connector-frame/engine';
import { connectors, createInputOf, type ConnectorContext, type ListenAt } from '@connector-frame/engine/connectors';
import type { Egress } from '@connector-frame/engine/egress';
import type { OrganizationVault } from '../../secrets/vault.js';
import type { RunningRow } from '../../store/running-pipelines.js';
import type { Connector } from '../../store/store.js';
import type { StoredNode } from '../../store/tables.js';

export interface ComponentTools {
  catalog: Catalog;
  egress: Egress;
  clock: Clock;
  /** Where file outputs of a connector may write; absent: nowhere. */
  filesFolder?: (connector: Connector) => string;
  /** Where an input listens by itself; absent: it does not. */
  listenAt?: (connector: Connector) => ListenAt | undefined;
}

/**
 * What stands at the nodes of a pipeline, ready to run. What can't run says why, in our own words: the others of the
 * pipeline, and other pipelines, are not the worse for it.
 */
export function componentsOf(row: RunningRow, vault: OrganizationVault, tools: ComponentTools): Components {
  const inputs = new Map<string, Input>();
  const outputs = new Map<string, Output>();
  const transforms = new Map<string, TransformConfig>();
  const problems = new Map<string, MissingPart>();
  for (const node of row.pipeline.nodes) {
    if (!node.enabled) continue;
    try {
      const connector = row.connectors.get(node.component_id);
      if (node.component_type === 'transform') {
        const transform = row.transforms.get(node.component_id);
        if (transform) transforms.set(node.id, transform.config);
      } else if (node.component_type === 'input') {
        const input = connector && createInputOf(...partsOf(row, node, connector, vault, tools));
        if (input) inputs.set(node.id, input);
      } else if (node.component_type === 'output') {
        const output = connector && createOutputOf(...partsOf(row, node, connector, vault, tools));
        if (output) outputs.set(node.id, output);
      }
    } catch (error) {
      problems.set(node.id, problemOf(error, node));
    }
  }
  return { inputs, outputs, transforms, problems };
}

type Parts = [ConnectorContext['type'], ConnectorConfig, ConnectorContext];

const createOutputOf = (...[type, config, context]: Parts): Output | undefined =>
  connectors(type).createOutput?.(config, context);

function partsOf(
  row: RunningRow,
  node: StoredNode,
  connector: Connector,
  vault: OrganizationVault,
  { catalog, egress, clock, filesFolder, listenAt }: ComponentTools,
): Parts {
  const type = catalog.get(connector.kind, connector.type);
  if (!type) {
    const message = `This release has no ${connector.kind} type ${connector.type}, which ${node.slug} is of.`;
    throw new EndError('no_runtime', message, 'permanent');
  }
  const listen = listenAt?.(connector);
  const context: ConnectorContext = {
    type,
    egress,
    clock,
    ...(filesFolder && { filesFolder: filesFolder(connector) }),
    ...(listen && { listen }),
  };
  const secrets = secretsOf(row, node, vault);
  // Stored by an earlier release, settings may hold what the type has no more.
  return [type, pruneConfig(type.config, { settings: connector.settings, secrets }), context];
}

function secretsOf(row: RunningRow, node: StoredNode, vault: OrganizationVault): ConnectorConfig['secrets'] {
  const own = row.secrets.filter(({ connectorId }) => connectorId === node.component_id);
  return Object.fromEntries(
    own.map((secret) => {
      try {
        return [secret.field, vault.open(secret, secret.sealed)];
      } catch {
        const message = `The secret ${secret.field} of ${node.slug} can't be opened. Enter it again.`;
        throw new EndError('secret_unreadable', message, 'permanent');
      }
    }),
  );
}

/** Of an unknown error nothing is told: it may repeat what is in the configuration. */
function problemOf(error: unknown, node: StoredNode): MissingPart {
  if (error instanceof EndError) return { code: error.code, message: error.message };
  return { code: 'invalid_config', message: `The configuration of ${node.slug} makes up nothing that could run.` };
}
