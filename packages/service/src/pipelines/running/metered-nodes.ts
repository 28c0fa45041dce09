import type { RunningRow } from '../../store/running-pipelines.js';
import type { UsageNode } from '../../store/usage.js';

/** Returns the nodes of a pipeline as their usage is kept, by node id. */
export function meteredNodes({ pipeline, parentId, connectors }: RunningRow): Map<string, UsageNode> {
  const { id: pipelineId, organizationId, nodes } = pipeline;
  const inputId = nodes.find((node) => node.component_type === 'input' && node.enabled)?.component_id ?? '';
  return new Map(
    nodes.map(({ id: nodeId, component_type: componentType, component_id: componentId }) => {
      const type = connectors.get(componentId)?.type ?? '';
      return [nodeId, { organizationId, parentId, pipelineId, nodeId, componentType, componentId, type, inputId }];
    }),
  );
}
