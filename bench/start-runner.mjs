import { join } from 'node:path';
import { createDevNullOutput } from '@connector-frame/connectors';
import { PipelineRunner } from '@connector-frame/engine';

/**
 * Starts a pipeline from an input to `dev-null` in this process.
 * @param options `id`, `input`, the parent `folder`, and `bus`, `coordinator` and `meter` of the runner
 */
export async function startRunner({ id, input, folder, ...parts }) {
  const runner = new PipelineRunner({
    definition: {
      id,
      nodes: [
        { id: 'in', slug: 'in', component_id: 'a', component_type: 'input', enabled: true },
        { id: 'out', slug: 'out', component_id: 'b', component_type: 'output', enabled: true },
      ],
      edges: [{ id: 'edge', from_node_instance_id: 'in', to_node_instance_id: 'out' }],
    },
    components: {
      inputs: new Map([['in', input]]),
      outputs: new Map([['out', createDevNullOutput()]]),
      transforms: new Map(),
    },
    holder: 'bench',
    folder: join(folder, id),
    ...parts,
  });
  await runner.start();
  return runner;
}
