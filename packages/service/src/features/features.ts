/**
 * What the operator of the service switches on and off. The IDs are stable: clients may store them.
 */
const definitions = {
  engine: { id: 1, description: 'Pipelines run.', scopes: [] },
  file_outputs: {
    id: 2,
    description: 'Outputs of type `file` can be created.',
    scopes: ['organization', 'user'],
    requires: 'FILE_OUTPUT_DIR',
  },
  node_data: {
    id: 3,
    description: 'Records can be watched while they pass a node.',
    scopes: ['organization', 'user'],
  },
  config_overrides: {
    id: 4,
    description: 'Nodes of pipelines can override settings of their connectors.',
    scopes: ['organization', 'user'],
  },
  beta_types: {
    id: 5,
    description: 'Connector types in beta are offered.',
    scopes: ['organization', 'user'],
  },
  local_sign_in: {
    id: 6,
    description: 'Users sign in with a password of the service.',
    scopes: ['user'],
    requires: 'LOCAL_ACCOUNTS',
  },
  oidc_sign_in: { id: 7, description: 'Users sign in through the identity provider of the operator.', scopes: [] },
} as const satisfies Record<string, FeatureDefinition>;

interface FeatureDefinition {
  id: number;
  description: string;
  /** For whom the operator can override it. */
  scopes: readonly ('organization' | 'user')[];
  /** Variable without which an override can't switch it on. */
  requires?: string;
}

/** Name of a feature. */
export type Feature = keyof typeof definitions;

/** Whether each feature is on without an override. */
export type FeatureDefaults = Readonly<Record<Feature, boolean>>;

/** The names of all features, by ID. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys returns string[]
export const features = Object.keys(definitions) as [Feature, ...Feature[]];

/** Returns the definition of a feature. */
export const definitionOf = (feature: Feature): FeatureDefinition => definitions[feature];
