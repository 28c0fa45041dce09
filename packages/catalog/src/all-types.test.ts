/** What must hold for every type of the catalog, those added later included. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compile } from './build/compile.js';
import { readSources } from './build/read-sources.js';
import { fieldsOf } from './build/walk.js';
import { exampleConfig } from './example-config.js';
import type { ConnectorTypeData } from './types.js';
import {
  destinationOf,
  getAt,
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

/** Every choice a type offers, one at a time, as `exampleConfig` takes it. */
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

it('the sources have no problem', () => {
  expect(problems).toEqual([]);
});

describe.each(named)('%s', (_name, type) => {
  const { config: schema } = type;
  const choices = choicesOf(type);

  it('takes a generated example, with every choice, sparse and full, and stores it as it is', () => {
    for (const made of choices)
      for (const optional of [false, true]) {
        const example = exampleConfig(schema, { optional, choices: made });
        expect(validateConfig(schema, example)).toEqual([]);
        expect(pruneConfig(schema, example)).toEqual(example);
        expect(validateConfig(schema, pruneConfig(schema, withDefaults(schema, example)))).toEqual([]);
      }
  });

  it('asks an empty form for exactly its required fields that are shown and have no default', () => {
    const empty = withDefaults(schema);
    const expected = fieldsOf(type)
      .filter(({ field, required, inRow, path, guards }) => {
        const asked = required || field['x-when']?.required === true;
        const shown = guards.every((guard) => guard.in.some((value) => value === getAt(empty, guard.path)));
        return asked && shown && !inRow && !isGroup(field) && getAt(empty, path) === undefined;
      })
      .map(({ path }) => path);
    const issues = validateConfig(schema, empty);
    expect(issues.filter(({ code }) => code !== 'required')).toEqual([]);
    expect(issues.map(({ path }) => path).sort()).toEqual(expected.sort());
  });

  it('refuses the same example without any one of its required values', () => {
    const example = exampleConfig(schema);
    for (const { path, field, required, inRow } of fieldsOf(type)) {
      if (!required || inRow || isGroup(field) || getAt(example, path) === undefined) continue;
      expect(validateConfig(schema, setAt(example, path, undefined)).map((issue) => issue.path)).toContain(path);
    }
  });

  it('knows another destination when it sees one', () => {
    const hasSecrets = Object.keys(schema.secrets.properties).length > 0;
    let decided = 0;
    for (const made of choices) {
      const { settings, secrets } = exampleConfig(schema, { optional: true, choices: made });
      const here = destinationOf(schema, settings);
      for (const { path, field } of fieldsOf(type)) {
        const value = getAt({ settings, secrets }, path);
        if (field['x-destination'] !== true || value === undefined) continue;
        decided++;
        const elsewhere = isUnion(field) ? {} : typeof value === 'number' ? value + 1 : `${JSON.stringify(value)}x`;
        expect(destinationOf(schema, setAt({ settings, secrets }, path, elsewhere).settings)).not.toBe(here);
      }
    }
    expect(!hasSecrets || decided > 0 || type.fixed_destination !== undefined).toBe(true);
  });

  it('refuses masks in place of every secret', () => {
    for (const key of Object.keys(schema.secrets.properties)) {
      const example = exampleConfig(schema, { optional: true });
      if (example.secrets[key] === undefined) continue;
      const masked = setAt(
        example,
        `/secrets/${key}`,
        typeof example.secrets[key] === 'string' ? '••••••••' : { a: '****' },
      );
      expect(validateConfig(schema, masked).map(({ code }) => code)).toEqual(['masked']);
    }
  });
});

it('together they use every kind of field', () => {
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
  // prettier-ignore
  const every = [
    'text', 'multiline', 'uri', 'hostname', 'host-port', 'email', 'date-time', 'cron', 'pem', 'enum', 'integer', 'number',
    'boolean', 'list of strings', 'list of objects', 'group', 'map', 'variants',
    'secret text', 'secret uri', 'secret json', 'secret pem', 'secret map',
  ];
  expect([...kinds].sort()).toEqual(every.sort());
});
