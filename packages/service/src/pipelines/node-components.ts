import { z } from '@hono/zod-openapi';
import type { ConnectorKind } from '@connector-frame/catalog/types';
import { ConnectorBody, presentConnector } from '../connectors/present-connector.js';
import type { Pipeline, ReadTables } from '../store/store.js';
import { ConfigOverrides, overridesOf, settingsAt } from './config-overrides.js';

const Config = ConnectorBody.shape.config;

/** The connector of a node with overrides, as in API responses. */
export const NodeComponent = z
  .object({
    ...ConnectorBody.pick({ id: true, name: true, description: true, type: true, version: true }).shape,
    overrides: ConfigOverrides,
    base_config: Config.optional().openapi({ description: 'The configuration of the connector.' }),
    config: Config.optional().openapi({ description: 'The configuration that the node runs with.' }),
  })
  .openapi('NodeComponent', {
    description:
      'The connector of a node with `config_overrides`. Its configuration is shown to keys that may read connectors of that kind.',
  });

/**
 * Returns the connectors of the nodes with overrides, by node id.
 * @param maySee whether the caller may see the configuration of connectors of this kind
 */
export async function componentsAt(
  { connectors, secrets }: Pick<ReadTables, 'connectors' | 'secrets'>,
  { organizationId, nodes }: Pipeline,
  maySee: (kind: ConnectorKind) => boolean,
): Promise<ReadonlyMap<string, z.output<typeof NodeComponent>>> {
  const components = new Map<string, z.output<typeof NodeComponent>>();
  const overridden = nodes.filter((node) => overridesOf(node) !== undefined);
  if (overridden.length === 0) return components;
  const ids = overridden.map((node) => node.component_id);
  const rows = await connectors.some(organizationId, ids);
  const notes = await secrets.notes(ids);
  for (const node of overridden) {
    const connector = rows.find(({ id }) => id === node.component_id);
    const overrides = overridesOf(node);
    if (!connector || !overrides) continue;
    const own = notes.filter(({ connectorId }) => connectorId === connector.id);
    const { id, name, description, type, version, config } = presentConnector(connector, own, undefined);
    const merged = { ...config, settings: { ...settingsAt(node, config.settings) } };
    const shown = maySee(connector.kind) ? { base_config: config, config: merged } : {};
    components.set(node.id, { id, name, description, type, version, overrides, ...shown });
  }
  return components;
}
