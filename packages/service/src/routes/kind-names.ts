import type { ConnectorKind } from '@connector-frame/catalog/types';

/** Names and addresses of the routes for one kind of connectors. */
export interface KindNames {
  tag: string;
  /** Part of operation names: `readInput`. */
  name: string;
  plural: 'inputs' | 'outputs' | 'enrichments';
  /** Address of the list, and before the id of a connector. */
  read: string;
  write: string;
}

/** The addresses are those of the public API, where enrichments came with its third version. */
export const kindNames: Readonly<Record<ConnectorKind, KindNames>> = {
  input: { tag: 'Inputs', name: 'Input', plural: 'inputs', read: '/v1/{org}/inputs', write: '/v2/{org}/inputs' },
  output: { tag: 'Outputs', name: 'Output', plural: 'outputs', read: '/v1/{org}/outputs', write: '/v2/{org}/outputs' },
  enrichment: {
    tag: 'Enrichments',
    name: 'Enrichment',
    plural: 'enrichments',
    read: '/v3/{org}/enrichments',
    write: '/v3/{org}/enrichments',
  },
};
