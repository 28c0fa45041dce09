import { exampleBody, typeOf } from './connectors.js';
import type { TestService } from './service.js';

/** Ids for paths and queries of the routes of enrichments, as `fillPath` takes them. */
export interface EnrichmentIds extends Record<string, string> {
  /** An enrichment with a secret. */
  enrichments: string;
  /** A KV lookup output. */
  component_id: string;
}

/** Creates an enrichment and a KV lookup output in an organization. */
export async function createEnrichments(service: TestService, org: string, key: string): Promise<EnrichmentIds> {
  const make = async (path: string, body: object): Promise<string> =>
    (await service.call('POST', path, { key, body })).body.id;
  const output = { name: 'Users', type: 'kv-lookup', config: { settings: { key_field: 'id' } } };
  return {
    enrichments: await make(`/v3/${org}/enrichments`, exampleBody(typeOf('enrichment', 'http-lookup'))),
    component_id: await make(`/v2/${org}/outputs`, output),
  };
}

/** Returns nodes and edges of a pipeline from an input through an enrichment to an output. */
export const throughEnrichment = (input: string, enrichment: string, output: string) => ({
  nodes: [
    { slug: 'in', component_id: input, component_type: 'input' },
    { slug: 'enrich', component_id: enrichment, component_type: 'enrichment' },
    { slug: 'out', component_id: output, component_type: 'output' },
  ],
  edges: [
    { from_node_instance_id: 'in', to_node_instance_id: 'enrich' },
    { from_node_instance_id: 'enrich', to_node_instance_id: 'out' },
  ],
});
