import { generateKeyPairSync } from 'node:crypto';
import { CONNECTOR_KINDS, loadCatalog, type ConnectorConfig, type ConnectorTypeData } from '@connector-frame/catalog';
import { getAt } from '@connector-frame/catalog/validate';
import type { TestOutcome } from '../../packages/engine/src/connector-api/index.js';
import { generateServiceAccount } from './documented-exchanges.js';

/** Returns the catalog type for a tester's name: `input:okta-systemlog`. */
export function typeOf(name: string): ConnectorTypeData {
  const [prefix, typeId = ''] = name.split(':');
  const kind = CONNECTOR_KINDS.find((each) => each === prefix);
  const type = kind && loadCatalog().get(kind, typeId);
  if (!type) throw new Error(`${name} is not in the catalog`);
  return type;
}

/**
 * Returns pointers in an outcome that match no field of the type; the form could not show their
 * messages.
 */
export function undeclaredFields(name: string, outcome: TestOutcome): string[] {
  const { config } = typeOf(name);
  const paths = outcome.ok ? [] : (outcome.issues ?? []).map(({ path }) => path);
  return paths.filter((path) => !declares(config, path));
}

/** Returns whether any variant declares the field. */
function declares(config: ConnectorTypeData['config'], pointer: string): boolean {
  const [, root = '', ...keys] = pointer.split('/');
  let fields: unknown[] = [getAt(config, `/${root}`)];
  for (const key of keys) {
    fields = fields
      .flatMap((field) => [field, ...[getAt(field, '/oneOf') ?? []].flat()])
      .map((field) => getAt(field, `/properties/${key}`) ?? (/^\d+$/.test(key) ? getAt(field, '/items') : undefined))
      .filter((field) => field !== undefined);
  }
  return fields.length > 0;
}

let key: string | undefined;

/** Returns secrets with a valid private key in place of the example of one. */
export function withPrivateKeys<T>(secrets: Readonly<Record<string, T>>): Record<string, T | string> {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => {
      if (name !== 'private_key' || typeof value !== 'string' || !value.startsWith('-----BEGIN')) return [name, value];
      key ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString();
      return [name, key];
    }),
  );
}

/** Returns settings without the certificates of an example configuration, which are not valid. */
export function withoutCertificates(settings: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(settings, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith('-----BEGIN') ? undefined : value,
  );
  return JSON.parse(text) as Record<string, unknown>;
}

/** Replaces the example of a JSON file with credentials, of a service account or an app: it has none. */
export function replaceKeyFiles({ secrets }: ConnectorConfig): void {
  const account = JSON.parse(generateServiceAccount()) as object;
  const app = { tenant_id: 'acme', client_id: 'app-1', client_secret: 'secret-1' };
  for (const name of ['credentials_json', 'credentials'])
    if (name in secrets) secrets[name] = JSON.stringify({ ...account, ...app });
}
