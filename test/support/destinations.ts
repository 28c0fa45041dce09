import {
  exampleConfig,
  type ConnectorConfig,
  type ConnectorTypeData,
  type FieldSchema,
} from '@connector-frame/catalog';
import {
  destinationOf,
  getAt,
  isGroup,
  isList,
  isMarked,
  isUnion,
  joinPointer,
  pruneConfig,
  setAt,
  validateConfig,
  variantsOf,
  discriminatorOf,
} from '@connector-frame/catalog/validate';

/** A change of where or how a connector's secrets are sent. */
export interface Move {
  type: ConnectorTypeData;
  /** Pointer of the changed field. */
  path: string;
  /** How the schema marks the field. */
  mark: 'destination' | 'transport';
  before: ConnectorConfig;
  /** Also valid, with another destination. */
  after: ConnectorConfig;
}

/**
 * Returns, for every field that decides where or how secrets are sent, a valid change of it that
 * keeps at least one secret in use. Skips a field if every change of it drops the secrets.
 * @throws Error if no valid change of a field is known
 */
export function movesOf(type: ConnectorTypeData): Move[] {
  if (Object.keys(type.config.secrets.properties).length === 0) return [];
  return destinationFields(type).flatMap(({ path, field, choices }) => {
    const before = withSecrets(type, choices, path);
    if (!before) return [];
    const home = destinationOf(type.config, before.settings);
    let dropsAll = false;
    for (const value of otherValues(field, getAt(before, path))) {
      const after = setAt(before, path, value);
      const kept = new Set(Object.keys(before.secrets));
      if (Object.keys(pruneConfig(type.config, after).secrets).length === 0) dropsAll = true;
      else if (validateConfig(type.config, after, { kept }).length === 0) {
        const mark = field['x-destination'] ? 'destination' : 'transport';
        if (destinationOf(type.config, after.settings) !== home) return { type, path, mark, before, after };
      }
    }
    if (dropsAll) return [];
    throw new Error(`${type.kind} ${type.type_id}: this test knows no other valid value for ${path}.`);
  });
}

/**
 * Returns an example configuration that contains the field and at least one secret; some types have
 * choices without any.
 */
function withSecrets(
  { config }: ConnectorTypeData,
  choices: ReadonlyMap<string, string | boolean>,
  path: string,
): ConnectorConfig | undefined {
  const conditions = Object.values(config.secrets.properties).map((secret) => secret['x-when']);
  for (const when of [undefined, ...conditions]) {
    const wanted = when?.in[0];
    const chosen =
      when && wanted !== undefined && typeof wanted !== 'number' ? new Map([...choices, [when.path, wanted]]) : choices;
    const example = exampleConfig(config, { optional: true, choices: chosen });
    if (Object.keys(example.secrets).length > 0 && getAt(example, path) !== undefined) return example;
  }
  return undefined;
}

interface Found {
  path: string;
  field: FieldSchema;
  /** Choices that make the field visible. */
  choices: Map<string, string | boolean>;
}

function destinationFields(type: ConnectorTypeData): Found[] {
  const found: Found[] = [];
  const visit = (field: FieldSchema, path: string, choices: Map<string, string | boolean>): void => {
    const when = field['x-when'];
    const wanted = when?.in[0];
    const shown = new Map(choices);
    if (when && wanted !== undefined && typeof wanted !== 'number') shown.set(when.path, wanted);
    if (isMarked(field)) found.push({ path, field, choices: shown });
    if (isUnion(field)) {
      for (const { value, key, body } of variantsOf(field)) {
        const chosen = new Map(shown).set(joinPointer(path, discriminatorOf(field)), value);
        if (key !== undefined && body) visit(body, joinPointer(path, key), chosen);
      }
    } else if (isGroup(field)) {
      for (const [key, child] of Object.entries(field.properties)) visit(child, joinPointer(path, key), shown);
    } else if (isList(field)) visit(field.items, joinPointer(path, 0), shown);
  };
  visit(type.config.settings, '/settings', new Map());
  return found;
}

/** Returns values an attacker might try, each valid for some kind of address. */
function otherValues(field: FieldSchema, value: unknown): unknown[] {
  if (isUnion(field)) {
    return variantsOf(field).map((variant) => ({
      [discriminatorOf(field)]: variant.value,
      ...(variant.key !== undefined && variant.body
        ? { [variant.key]: exampleConfig({ settings: variant.body, secrets: noSecrets }, { optional: true }).settings }
        : {}),
    }));
  }
  if (isList(field)) {
    const [first]: unknown[] = Array.isArray(value) ? value : [];
    return otherValues(field.items, first).map((other) => [other]);
  }
  if (isGroup(field))
    return Object.entries(field.properties).flatMap(([key, inner]) => {
      const part: unknown = getAt(value, joinPointer('', key));
      return part === undefined
        ? []
        : otherValues(inner, part).map((other) => setAt(Object(value), joinPointer('', key), other));
    });
  if (typeof value === 'number') return [value + 1];
  if (typeof value === 'boolean') return [!value];
  const text = String(value);
  const [, scheme, port = ''] = /^([a-z+]+):\/\/[^/]*?(:\d+)?(?:\/|$)/.exec(text) ?? [];
  return [
    ...(scheme === undefined ? [] : [`${scheme}://evil.example${port}`]),
    ...('enum' in field && field.enum ? field.enum : []),
    'https://evil.example',
    'evil.example',
    'evil.example:9443',
    'evil-account',
    'evil_account',
    '/evil',
    '9443',
    'us-west-2',
    'eu-central-1',
    'https://events.ent.1password.com',
    'https://sqs.us-west-2.amazonaws.com/999999999999/evil',
    'https://evil.blob.core.windows.net',
    'https://evil.us-1.ingest.monitor.azure.com',
    'https://evil.example/receiver/v1/http/evil',
    'api-0e1.duosecurity.com',
    'evil:ZXZpbA==',
    // Another account, project or cluster of the vendor, for fields that accept only those.
    ...Array.from(text, (_, index) =>
      ['z', 'Z', '7'].map((other) => text.slice(0, index) + other + text.slice(index + 1)),
    ),
  ].flat();
}

const noSecrets = { type: 'object', properties: {}, additionalProperties: false } as const;
