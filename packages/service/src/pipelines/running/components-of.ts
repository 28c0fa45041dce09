import type { Catalog } from '@connector-frame/catalog';
import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  ConnectorError,
  readTransform,
  type Clock,
  type Components,
  type Input,
  type MissingPart,
  type Output,
  type TransformConfig,
} from '@connector-frame/engine';
import { connectors, createInputOf } from '@connector-frame/connectors';
import type { ConnectorContext, ListenAt } from '@connector-frame/engine/connector-api';
import type { Egress } from '@connector-frame/engine/egress';
import { runtimeConfig } from '../../connectors/runtime-config.js';
import { openSecrets, type OpenedSecrets, type Opening } from '../../secrets/open-secrets.js';
import { DestinationError, type OrganizationVault } from '../../secrets/vault.js';
import type { RunningRow } from '../../store/running-pipelines.js';
import type { Connector } from '../../store/store.js';
import type { StoredNode } from '../../store/tables.js';

export interface ComponentTools {
  catalog: Catalog;
  egress: Egress;
  clock: Clock;
  /**
   * Returns the folder that file outputs of a connector may write to. Absent: they can't write
   * files.
   */
  filesFolder?: (connector: Connector) => string;
  /** Returns where an input listens on a port of its own. Absent: no input does. */
  listenAt?: (connector: Connector) => Promise<ListenAt | undefined>;
}

/** The opened secrets of a pipeline's connectors, by the connector's id. */
export type OpenedByConnector = ReadonlyMap<string, OpenedSecrets>;

/** Opens the secrets of all connectors of a pipeline. */
export function openedOf({ connectors: all, secrets }: RunningRow, vault: OrganizationVault, catalog: Catalog) {
  const opened = new Map<string, OpenedSecrets>();
  for (const [id, { kind, type: typeId, settings }] of all) {
    const type = catalog.get(kind, typeId);
    const own = secrets.filter(({ connectorId }) => connectorId === id);
    if (type && own.length > 0) opened.set(id, openSecrets(type, settings, own, vault));
  }
  return opened;
}

/**
 * Creates the components of a pipeline's nodes. A node that can't run gets a problem with a fixed
 * message instead; the other nodes of the pipeline, and other pipelines, are not affected.
 */
export async function componentsOf(
  row: RunningRow,
  secrets: OpenedByConnector,
  tools: ComponentTools,
  resolveSecret: (id: string) => string | undefined,
): Promise<Components> {
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
        if (transform) transforms.set(node.id, readTransform(transform.config));
      } else if (node.component_type === 'input') {
        const input = connector && createInputOf(...(await partsOf(node, connector, secrets, tools)));
        if (input) inputs.set(node.id, input);
      } else if (node.component_type === 'output') {
        const output = connector && createOutputOf(...(await partsOf(node, connector, secrets, tools)));
        if (output) outputs.set(node.id, output);
      }
    } catch (error) {
      problems.set(node.id, problemOf(error, node));
    }
  }
  return { inputs, outputs, transforms, problems, resolveSecret };
}

type Parts = [ConnectorContext['type'], ConnectorConfig, ConnectorContext];

const createOutputOf = (...[type, config, context]: Parts): Output | undefined =>
  connectors(type).createOutput?.(config, context);

async function partsOf(
  node: StoredNode,
  connector: Connector,
  secrets: OpenedByConnector,
  { catalog, egress, clock, filesFolder, listenAt }: ComponentTools,
): Promise<Parts> {
  const type = catalog.get(connector.kind, connector.type);
  if (!type) {
    const message = `This release has no ${connector.kind} type ${connector.type}, which ${node.slug} is of.`;
    throw new ConnectorError('no_runtime', message, 'permanent');
  }
  const listen = await listenAt?.(connector);
  const context: ConnectorContext = {
    type,
    egress,
    clock,
    ...(filesFolder && { filesFolder: filesFolder(connector) }),
    ...(listen && { listen }),
  };
  return [type, runtimeConfig(type, connector.settings, secretsOf(node, secrets)), context];
}

function secretsOf(node: StoredNode, opened: OpenedByConnector): ConnectorConfig['secrets'] {
  const openings = opened.get(node.component_id)?.openings ?? new Map<string, Opening>();
  return Object.fromEntries(
    Array.from(openings, ([field, opening]) => {
      if (!opening.error) return [field, opening.value];
      throw opening.error instanceof DestinationError
        ? mismatch(node, field, opening.error.changed)
        : new ConnectorError(
            'secret_unreadable',
            `The secret ${field} of ${node.slug} can't be opened. Enter it again.`,
            'permanent',
          );
    }),
  );
}

function mismatch({ slug }: StoredNode, field: string, changed: readonly string[]): ConnectorError {
  const what = changed.length > 0 ? `: ${changed.join(', ')}` : '';
  const message = `The settings of ${slug} are not the ones its secret ${field} was saved for${what}. Check them, then enter the secret again.`;
  return new ConnectorError('secret_destination_mismatch', message, 'permanent');
}

/** Hides the message of an unknown error, which may contain configuration values. */
function problemOf(error: unknown, node: StoredNode): MissingPart {
  if (error instanceof ConnectorError) return { code: error.code, message: error.message };
  return { code: 'invalid_config', message: `The configuration of ${node.slug} makes up nothing that could run.` };
}
