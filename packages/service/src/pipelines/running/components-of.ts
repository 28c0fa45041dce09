import type { Catalog } from '@connector-frame/catalog';
import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { validateConfig } from '@connector-frame/catalog/validate';
import {
  ConnectorError,
  readTransform,
  type ActivityRecords,
  type AlertRecords,
  type Clock,
  type Components,
  type Enrichment,
  type Input,
  type MissingPart,
  type Output,
  type TransformConfig,
} from '@connector-frame/engine';
import { connectors, createInputOf, type AwsIdentity } from '@connector-frame/connectors';
import type { ConnectorContext, KeyValueTable, ListenAt } from '@connector-frame/engine/connector-api';
import type { Egress } from '@connector-frame/engine/egress';
import type { Lookups, LookupsOf } from '../../connectors/lookups.js';
import { runtimeConfig } from '../../connectors/runtime-config.js';
import { grantIn } from '../../oauth/grant.js';
import type { TokenRefresher } from '../../oauth/granted-tokens.js';
import { openSecrets, type OpenedSecrets, type Opening } from '../../secrets/open-secrets.js';
import type { SecretExchanges, SecretUser } from '../../secrets/secret-exchanges.js';
import { DestinationError, type OrganizationVault } from '../../secrets/vault.js';
import { notRunning, withoutDetails } from './shared-output.js';
import type { RunningRow } from '../../store/running-pipelines.js';
import type { Connector, Pipeline } from '../../store/store.js';
import type { StoredNode } from '../../store/tables.js';
import { overridesOf, settingsAt } from '../config-overrides.js';

export interface ComponentTools {
  catalog: Catalog;
  egress: Egress;
  clock: Clock;
  /**
   * Returns the folder that file outputs of a connector may write to. Absent: they can't write
   * files.
   */
  filesFolder?: (connector: Connector) => string;
  /** Returns what a connector may look up. */
  lookupsOf: LookupsOf;
  /** Returns the key-value table of an output. */
  tableOf: (connector: Connector) => KeyValueTable;
  /** Replaces stored secrets, for vendors that do so. Absent: replacements are not stored. */
  exchanges?: SecretExchanges;
  /** Refreshes the tokens of connected accounts. */
  refresher?: TokenRefresher;
  /** The service's own identity at AWS. Absent: it has none. */
  aws?: Pick<AwsIdentity, 'of'> | undefined;
  /** Returns where an input listens on a port of its own. Absent: no input does. */
  listenAt?: (connector: Connector) => Promise<ListenAt | undefined>;
  /** Returns the alerts for an input of a pipeline. Absent: no rules are evaluated. */
  alertsOf?: (pipeline: Pick<Pipeline, 'id' | 'organizationId'>, nodeId: string) => AlertRecords;
  /** Returns the audit log of an organization. Absent: inputs can't read it. */
  activityOf?: (organizationId: string) => ActivityRecords;
}

/**
 * The opened secrets of a pipeline's connectors, by the connector's id, or by the id of a node that
 * overrides settings of its connector.
 */
export type OpenedById = ReadonlyMap<string, OpenedSecrets>;

/**
 * Opens the secrets of all connectors of a pipeline, also of those that are shared with its
 * organization. A secret does not open for overridden settings
 * that would send it elsewhere.
 */
export function openedOf(row: RunningRow, vault: OrganizationVault, catalog: Catalog): OpenedById {
  const opened = new Map<string, OpenedSecrets>();
  const open = (id: string, connector: Connector, settings: Connector['settings']) => {
    const { id: connectorId, organizationId, kind, type: typeId } = connector;
    const type = catalog.get(kind, typeId);
    const own = row.secrets.filter((secret) => secret.connectorId === connectorId);
    if (type && own.length > 0) opened.set(id, openSecrets(type, settings, own, vault.of(organizationId)));
  };
  for (const [id, connector] of row.connectors) open(id, connector, connector.settings);
  for (const node of row.pipeline.nodes) {
    const connector = overridesOf(node) && row.connectors.get(node.component_id);
    if (connector) open(node.id, connector, settingsAt(node, connector.settings));
  }
  return opened;
}

/**
 * Creates the components of a pipeline's nodes. A node that can't run gets a problem with a fixed
 * message instead; the other nodes of the pipeline, and other pipelines, are not affected.
 */
export async function componentsOf(
  row: RunningRow,
  secrets: OpenedById,
  tools: ComponentTools,
  resolveSecret: (id: string) => string | undefined,
): Promise<Components> {
  const inputs = new Map<string, Input>();
  const outputs = new Map<string, Output>();
  const transforms = new Map<string, TransformConfig>();
  const enrichments = new Map<string, Enrichment>();
  const problems = new Map<string, MissingPart>();
  for (const node of row.pipeline.nodes) {
    if (!node.enabled) continue;
    try {
      const connector = row.connectors.get(node.component_id);
      if (node.component_type === 'transform') {
        const transform = row.transforms.get(node.component_id);
        if (transform) transforms.set(node.id, readTransform(transform.config));
      } else if (node.component_type === 'input') {
        const input = connector && createInputOf(...(await partsOf(row.pipeline, node, connector, secrets, tools)));
        if (input) inputs.set(node.id, input);
      } else if (node.component_type === 'enrichment') {
        const enrichment =
          connector && createEnrichmentOf(...(await partsOf(row.pipeline, node, connector, secrets, tools)));
        if (enrichment) enrichments.set(node.id, enrichment);
      } else if (node.component_type === 'output') {
        const output = connector && (await outputOf(row.pipeline, node, connector, secrets, tools));
        if (output) outputs.set(node.id, output);
      }
    } catch (error) {
      problems.set(node.id, problemOf(error, node));
    }
  }
  return { inputs, outputs, transforms, enrichments, problems, resolveSecret };
}

type Parts = [ConnectorContext['type'], ConnectorConfig, ConnectorContext];

const createOutputOf = (...[type, config, context]: Parts): Output | undefined =>
  connectors(type).createOutput?.(config, context);

const createEnrichmentOf = (...[type, config, context]: Parts): Enrichment | undefined =>
  connectors(type).createEnrichment?.(config, context);

async function outputOf(
  pipeline: Pipeline,
  node: StoredNode,
  connector: Connector,
  secrets: OpenedById,
  tools: ComponentTools,
): Promise<Output | undefined> {
  const create = async () => createOutputOf(...(await partsOf(pipeline, node, connector, secrets, tools)));
  if (connector.organizationId === pipeline.organizationId) return create();
  try {
    const output = await create();
    return output && withoutDetails(output);
  } catch (error) {
    throw notRunning(problemOf(error, node).code);
  }
}

async function partsOf(
  pipeline: Pipeline,
  node: StoredNode,
  connector: Connector,
  secrets: OpenedById,
  {
    catalog,
    egress,
    clock,
    filesFolder,
    lookupsOf,
    tableOf,
    exchanges,
    refresher,
    aws,
    listenAt,
    alertsOf,
    activityOf,
  }: ComponentTools,
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
    ...(alertsOf && { alerts: alertsOf(pipeline, node.id) }),
    ...(activityOf && { activity: activityOf(pipeline.organizationId) }),
    ...(filesFolder && { filesFolder: filesFolder(connector) }),
    ...withOwnTable(lookupsOf(connector.organizationId), connector, tableOf),
    ...(aws && { aws: aws.of(connector.organizationId) }),
    ...(listen && { listen }),
    ...(exchanges && { secrets: exchanges.of(connector, userOf(node)) }),
  };
  const settings = settingsAt(node, connector.settings);
  const config = runtimeConfig(type, settings, secretsOf(node, secrets));
  if (refresher && context.secrets)
    context.tokens = refresher.of(type, { ...connector, settings }, context.secrets, storedOf(node, secrets));
  if (overridesOf(node)) requireFitting(node, type, config);
  return [type, config, context];
}

/** With other settings, the vendor may grant something else. */
const userOf = (node: StoredNode): SecretUser =>
  overridesOf(node) ? { settingsOf: (stored) => settingsAt(node, stored), key: node.id } : {};

/** Adds the table that an output writes, which its owner reads. */
const withOwnTable = (
  { keyValues, ...others }: Lookups,
  connector: Connector,
  tableOf: ComponentTools['tableOf'],
): Lookups => ({
  ...others,
  ...(keyValues && { keyValues: { ...keyValues, ...(connector.kind === 'output' && { own: tableOf(connector) }) } }),
});

/** The settings of the connector may have changed since the overrides were checked. */
function requireFitting({ slug }: StoredNode, type: ConnectorContext['type'], config: ConnectorConfig): void {
  const [issue] = validateConfig(type.config, config);
  if (!issue) return;
  const message = `The overrides of ${slug} don't fit the settings of its connector: ${issue.path} is not valid. Change one of them.`;
  throw new ConnectorError('invalid_overrides', message, 'permanent');
}

const openingsOf = (node: StoredNode, opened: OpenedById): ReadonlyMap<string, Opening> =>
  opened.get(overridesOf(node) ? node.id : node.component_id)?.openings ?? new Map();

const storedOf = (node: StoredNode, opened: OpenedById) =>
  Array.from(openingsOf(node, opened).values(), ({ secret }) => secret);

function secretsOf(node: StoredNode, opened: OpenedById): ConnectorConfig['secrets'] {
  return Object.fromEntries(
    Array.from(openingsOf(node, opened), ([field, opening]) => {
      if (!opening.error) return [field, opening.secret.consent ? grantIn(opening.value).accessToken : opening.value];
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

function mismatch(node: StoredNode, field: string, changed: readonly string[]): ConnectorError {
  const { slug } = node;
  const what = changed.length > 0 ? `: ${changed.join(', ')}` : '';
  const message = overridesOf(node)
    ? `The overrides of ${slug} would change where its secret ${field} is sent${what}. Remove them.`
    : `The settings of ${slug} are not the ones its secret ${field} was saved for${what}. Check them, then enter the secret again.`;
  return new ConnectorError('secret_destination_mismatch', message, 'permanent');
}

/** Hides the message of an unknown error, which may contain configuration values. */
function problemOf(error: unknown, node: StoredNode): MissingPart {
  if (error instanceof ConnectorError) return { code: error.code, message: error.message };
  return { code: 'invalid_config', message: `The configuration of ${node.slug} makes up nothing that could run.` };
}
