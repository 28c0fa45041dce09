/** Invariants of every type in the catalog, including types added later. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compile } from './build/compile.js';
import { readSources } from './build/read-sources.js';
import { CONNECTOR_KINDS } from './connector-kinds.js';
import { fieldsOf } from './build/walk.js';
import { exampleConfig } from './example-config.js';
import type { ConnectorConfig, ConnectorTypeData, UnionSchema } from './types.js';
import {
  destinationOf,
  getAt,
  isMarked,
  isUnion,
  pruneConfig,
  setAt,
  validateConfig,
  variantsOf,
  withDefaults,
} from './validate.js';
import { discriminatorOf, isGroup, isList, isMap } from './validate/schema.js';

const { types, problems } = compile(readSources(fileURLToPath(new URL('..', import.meta.url))));
const named = types.map((type): [string, ConnectorTypeData] => [`${type.kind} ${type.type_id}`, type]);

/** Returns every choice a type offers, one at a time, in the form that `exampleConfig` takes. */
function choicesOf(type: ConnectorTypeData): Map<string, string | boolean>[] {
  const choices: Map<string, string | boolean>[] = [new Map()];
  for (const { path, field, inRow } of fieldsOf(type)) {
    if (inRow) continue;
    if (isUnion(field))
      for (const { value } of variantsOf(field)) choices.push(new Map([[`${path}/${discriminatorOf(field)}`, value]]));
    else if (field.type === 'string') for (const value of field.enum ?? []) choices.push(new Map([[path, value]]));
    else if (field.type === 'boolean') choices.push(new Map([[path, true]]), new Map([[path, false]]));
  }
  return choices;
}

/** Returns a value of a union with a different choice than `value`. */
function otherChoice(union: UnionSchema, value: unknown): Record<string, string> {
  const discriminator = discriminatorOf(union);
  const chosen = getAt(value, `/${discriminator}`);
  const other = variantsOf(union).find((variant) => variant.value !== chosen);
  return { [discriminator]: other?.value ?? '' };
}

it('the catalog sources compile without problems', () => {
  expect(problems).toEqual([]);
});

it('every field for a role at AWS says what the role must trust and allow', () => {
  const roles = types.flatMap((type) =>
    fieldsOf(type)
      .filter(({ field }) => field.type === 'string' && field.pattern?.startsWith('^arn:aws[a-z-]*:iam::'))
      .map(({ path }) => ({ type, path })),
  );
  expect(roles.length).toBeGreaterThan(30);
  for (const { type, path } of roles)
    expect([type.setup?.field, type.setup?.aws_role !== undefined], type.type_id).toEqual([path, true]);
});

it('every secret in PEM form is marked as a private key, or is a certificate', () => {
  const unmarked = types.flatMap((type) =>
    fieldsOf(type)
      .filter(({ field, secret }) => secret && field.type === 'string' && field.format === 'pem')
      .filter(({ field }) => !('x-private-key' in field) && !/certificate/i.test(field.title ?? ''))
      .map(({ path }) => `${type.type_id} ${path}`),
  );
  expect(unmarked).toEqual([]);
});

it('an encrypted private key is accepted exactly where its password can be entered', () => {
  for (const type of types) {
    const secrets = fieldsOf(type).filter(({ secret }) => secret);
    const hasPassword = secrets.some(({ field }) => field.title === "Private key's password");
    for (const { field } of secrets)
      if ('x-private-key' in field)
        expect(field['x-private-key'], type.type_id).toBe(hasPassword ? 'encrypted' : 'plain');
  }
});

/**
 * Returns the paths that an empty form must report as required. An optional group requires nothing
 * until one of its fields is filled.
 */
function askedWhenEmpty(type: ConnectorTypeData, empty: ConnectorConfig): string[] {
  const fields = fieldsOf(type);
  const idle = fields
    .filter(({ field, required, path }) => isGroup(field) && !required && getAt(empty, path) === undefined)
    .map(({ path }) => `${path}/`);
  return fields
    .filter(({ field, required, inRow, path, guards }) => {
      const asked = required || field['x-when']?.required === true;
      const shown = guards.every((guard) => guard.in.some((value) => value === getAt(empty, guard.path)));
      return asked && shown && !inRow && !isGroup(field) && getAt(empty, path) === undefined;
    })
    .map(({ path }) => path)
    .filter((path) => !idle.some((group) => path.startsWith(group)));
}

// One test per type: with about a thousand separate tests, most of the time would be runner
// overhead.
describe.each(CONNECTOR_KINDS)('every %s', (kind) => {
  it.each(named.filter(([, type]) => type.kind === kind))('%s', (_name, type) => {
    const { config: schema } = type;
    const choices = choicesOf(type);
    const fields = fieldsOf(type);
    const marked = fields.filter(({ field }) => isMarked(field));
    const keys = Object.keys(schema.secrets.properties);

    let decided = 0;
    for (const made of choices) {
      for (const optional of [false, true]) {
        const example = exampleConfig(schema, { optional, choices: made });
        expect(validateConfig(schema, example), 'takes a generated example').toEqual([]);
        expect(pruneConfig(schema, example), 'stores an example as it is').toEqual(example);
        const filled = pruneConfig(schema, withDefaults(schema, example));
        expect(validateConfig(schema, filled), 'takes it with defaults').toEqual([]);
        if (!optional) continue;
        for (const { path, field, secret } of marked) {
          const value = getAt(example, path);
          if (value === undefined) continue;
          if (field['x-destination']) decided++;
          // For a secret that is itself an address or a CA, entering a new value is the change.
          if (secret) continue;
          const elsewhere = isUnion(field)
            ? otherChoice(field, value)
            : typeof value === 'number'
              ? value + 1
              : `${JSON.stringify(value)}x`;
          const moved = setAt(example, path, elsewhere).settings;
          expect(destinationOf(schema, moved), `${path} is another destination`).not.toBe(
            destinationOf(schema, example.settings),
          );
        }
      }
    }
    const known = keys.length === 0 || decided > 0 || type.fixed_destination !== undefined;
    expect(known, 'says where its secrets go').toBe(true);

    const empty = withDefaults(schema);
    const issues = validateConfig(schema, empty);
    expect(
      issues.filter(({ code }) => code !== 'required'),
      'an empty form only lacks things',
    ).toEqual([]);
    expect(issues.map(({ path }) => path).sort(), 'an empty form asks for exactly what is required').toEqual(
      askedWhenEmpty(type, empty).sort(),
    );

    const sparse = exampleConfig(schema);
    for (const { path, field, required, inRow } of fields) {
      if (!required || inRow || isGroup(field) || getAt(sparse, path) === undefined) continue;
      // Without its only field, an optional group is empty and requires nothing.
      const around = fields.find(({ field: group, path: at }) => isGroup(group) && path.startsWith(`${at}/`));
      if (around && !around.required && Object.keys(Object(getAt(sparse, around.path))).length === 1) continue;
      const without = validateConfig(schema, setAt(sparse, path, undefined)).map((issue) => issue.path);
      expect(without, `refuses it without ${path}`).toContain(path);
    }

    const full = exampleConfig(schema, { optional: true });
    for (const key of keys) {
      if (full.secrets[key] === undefined) continue;
      const mask = typeof full.secrets[key] === 'string' ? '••••••••' : { a: '****' };
      const masked = validateConfig(schema, setAt(full, `/secrets/${key}`, mask)).map(({ code }) => code);
      expect(masked, `refuses a mask as ${key}`).toEqual(['masked']);
    }
  });
});

it('the types together use every kind of field', () => {
  const kinds = new Set<string>();
  for (const type of types)
    for (const { field, secret, inRow } of fieldsOf(type)) {
      if (inRow) continue;
      const where = secret ? 'secret ' : '';
      if (isUnion(field)) kinds.add('variants');
      else if (isList(field)) kinds.add(isGroup(field.items) ? 'list of objects' : 'list of strings');
      else if (isMap(field)) kinds.add(`${where}map`);
      else if (isGroup(field)) kinds.add('group');
      else if (field.type === 'string') kinds.add(`${where}${field.enum ? 'enum' : (field.format ?? 'text')}`);
      else kinds.add(field.type);
    }
  // oxfmt-ignore
  const every = [
    'text', 'multiline', 'uri', 'hostname', 'host-port', 'email', 'date-time', 'cron', 'pem', 'enum', 'integer', 'number',
    'boolean', 'list of strings', 'list of objects', 'group', 'map', 'variants',
    'secret text', 'secret multiline', 'secret uri', 'secret hostname', 'secret json', 'secret pem', 'secret map',
  ];
  expect([...kinds].sort()).toEqual(every.sort());
});
