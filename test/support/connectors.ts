import { exampleConfig, loadCatalog, type ConnectorConfig, type ConnectorTypeData } from '@connector-frame/catalog';

/** What a client sends for a configuration in clear. */
export const asWrite = ({ settings, secrets }: ConnectorConfig) => ({
  settings,
  secrets: Object.fromEntries(Object.entries(secrets).map(([field, value]) => [field, { value }])),
});

/** A valid body to create a connector of a type. */
export const exampleBody = (type: ConnectorTypeData, name = 'Production') => ({
  name,
  type: type.type_id,
  config: asWrite(exampleConfig(type.config)),
});

/** A type that the catalog has. */
export function typeOf(kind: 'input' | 'output', typeId: string): ConnectorTypeData {
  const type = loadCatalog().get(kind, typeId);
  if (!type) throw new Error(`no ${kind} type ${typeId}`);
  return type;
}

/** Every type of the catalog. */
export const allTypes = (): ConnectorTypeData[] => [...loadCatalog().list('input'), ...loadCatalog().list('output')];
