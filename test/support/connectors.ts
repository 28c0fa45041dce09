import {
  CONNECTOR_KINDS,
  exampleConfig,
  loadCatalog,
  type ConnectorConfig,
  type ConnectorKind,
  type ConnectorTypeData,
} from '@connector-frame/catalog';

/** Converts a configuration with plaintext secrets to the form that clients send. */
export const asWrite = ({ settings, secrets }: ConnectorConfig) => ({
  settings,
  secrets: Object.fromEntries(Object.entries(secrets).map(([field, value]) => [field, { value }])),
});

/** Returns a valid request body that creates a connector of a type. */
export const exampleBody = (type: ConnectorTypeData, name = 'Production') => ({
  name,
  type: type.type_id,
  config: asWrite(exampleConfig(type.config)),
});

/** Returns a type of the catalog. Throws if it does not exist. */
export function typeOf(kind: ConnectorKind, typeId: string): ConnectorTypeData {
  const type = loadCatalog().get(kind, typeId);
  if (!type) throw new Error(`no ${kind} type ${typeId}`);
  return type;
}

/** Returns every type of the catalog. */
export const allTypes = (): ConnectorTypeData[] => CONNECTOR_KINDS.flatMap((kind) => [...loadCatalog().list(kind)]);

/** Returns the path at which connectors of a kind are created. */
export const writePath = (org: string, kind: ConnectorKind): string =>
  `/${kind === 'enrichment' ? 'v3' : 'v2'}/${org}/${kind}s`;
