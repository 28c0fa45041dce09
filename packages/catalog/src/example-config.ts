import type { ConnectorConfig, ConnectorConfigSchema, FieldSchema, ObjectSchema, SecretsSchema } from './types.js';
import { isShown } from './validate/is-shown.js';
import type { Plain } from './validate/objects.js';
import { pruneConfig } from './validate/prune-config.js';
import { discriminatorOf, isGroup, isList, isMap, isUnion, variantsOf } from './validate/schema.js';
import { setAt } from './validate/pointer.js';

const PEM = '-----BEGIN PRIVATE KEY-----\nTm90IGEga2V5LCBvbmx5IGFuIGV4YW1wbGUu\n-----END PRIVATE KEY-----';

const SAMPLES: Record<string, string> = {
  uri: 'https://example.com',
  hostname: 'example.com',
  'host-port': 'example.com:443',
  email: 'ada@example.com',
  'date-time': '2026-01-01T00:00:00Z',
  cron: '0 * * * *',
  json: '{"type":"service_account","project_id":"example"}',
  pem: PEM,
};

export interface ExampleOptions {
  /** Also fill optional fields. */
  optional?: boolean;
  /** Choices to make, by the pointer of the discriminator, enum or boolean field. */
  choices?: ReadonlyMap<string, string | boolean>;
}

/**
 * Returns a configuration that the schema accepts, for tests and galleries. Fills required fields
 * from their examples and defaults.
 *
 * @example
 * ```ts
 * const type = loadCatalog().get('input', 'okta-systemlog');
 * if (type) exampleConfig(type.config, { optional: true });
 * ```
 */
export function exampleConfig(schema: ConnectorConfigSchema, options: ExampleOptions = {}): ConnectorConfig {
  const sample = (field: FieldSchema, path: string): unknown => {
    if (isGroup(field)) return fill(field, path);
    if (isUnion(field)) {
      const discriminator = discriminatorOf(field);
      const variants = variantsOf(field);
      const selected = options.choices?.get(`${path}/${discriminator}`) ?? field.default;
      const variant = variants.find(({ value }) => value === selected) ?? variants[0];
      if (!variant) return undefined;
      const { value, key, body } = variant;
      return { [discriminator]: value, ...(key !== undefined && body ? { [key]: fill(body, `${path}/${key}`) } : {}) };
    }
    if (isMap(field)) return { example: sample(field.additionalProperties, path) };
    if (isList(field)) return [sample(field.items, path)];
    const choice = options.choices?.get(path);
    if (choice !== undefined) return choice;
    if (field.type === 'boolean') return field.default ?? false;
    if (field.type !== 'string') return field.default ?? field.minimum ?? 1;
    const text = field.default ?? field.examples?.[0] ?? field.enum?.[0] ?? SAMPLES[field.format ?? ''] ?? 'example';
    return text.padEnd(field.minLength ?? 0, 'x').slice(0, field.maxLength);
  };

  const fill = (group: ObjectSchema | SecretsSchema, path: string): Plain => {
    const filled: Plain = {};
    for (const [key, field] of Object.entries(group.properties)) {
      const required = group.required?.includes(key) === true || field['x-when'] !== undefined;
      const decided = [...(options.choices?.keys() ?? [])].some((pointer) =>
        `${pointer}/`.startsWith(`${path}/${key}/`),
      );
      if (required || decided || options.optional || ('default' in field && field.default !== undefined))
        filled[key] = sample(field, `${path}/${key}`);
    }
    return filled;
  };

  let config: ConnectorConfig = {
    settings: fill(schema.settings, '/settings'),
    secrets: fill(schema.secrets, '/secrets'),
  };
  if (options.optional) return pruneConfig(schema, config);
  // All conditional fields were filled: remove those that are not both shown and required.
  for (const section of ['settings', 'secrets'] as const)
    for (const [key, field] of Object.entries(schema[section].properties)) {
      const when = field['x-when'];
      if (when && !(when.required && isShown(when, config))) config = setAt(config, `/${section}/${key}`, undefined);
    }
  return pruneConfig(schema, config);
}
