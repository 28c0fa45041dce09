/**
 * Checks the shape of a type file: allowed keys and the values each takes. Later checks rely on it.
 */
import type { ConnectorTypeData } from '../types.js';
import { isPlain, own, type Plain } from '../validate/objects.js';
import { joinPointer } from '../validate/pointer.js';
import { FIELD_WORDS, isText, listOfText, TYPE_WORDS, type Words } from './words.js';
import { oauthShape } from './oauth-shape.js';
import { awsObjectsShape } from './aws-objects-shape.js';
import { deliveryShape } from './delivery-shape.js';
import { pollShape } from './poll-shape.js';
import { receiveShape } from './receive-shape.js';
import { setupShape } from './setup-shape.js';
import { oneOf, type Problem } from './problem.js';
import type { SourceFile } from './read-sources.js';

/** Returns the key table that applies to a field schema. */
function kindOf(field: Plain): keyof typeof FIELD_WORDS | undefined {
  if ('properties' in field) return 'group';
  if ('oneOf' in field) return 'union';
  if ('items' in field) return 'list';
  if ('additionalProperties' in field) return 'map';
  const { type } = field;
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'boolean' ? 'boolean' : undefined;
}

/**
 * Returns every problem with the shape of one file. References must be resolved and implied values
 * filled in.
 */
export function checkFormat({ file, value }: SourceFile): Problem[] {
  const problems: Problem[] = [];
  const add = (pointer: string, message: string): void => void problems.push({ file, pointer, message });

  const words = (table: Words, given: Plain, pointer: string, required: readonly string[]): void => {
    for (const key of Object.keys(given)) {
      const rule = own(table, key);
      const at = joinPointer(pointer, key);
      if (typeof rule !== 'function') add(at, `is not known here: use ${oneOf(Object.keys(table))}`);
      else {
        const expected: unknown = rule(given[key]);
        if (typeof expected === 'string') add(at, `must be ${expected}`);
      }
    }
    for (const key of required) if (!Object.hasOwn(given, key)) add(pointer, `needs "${key}"`);
  };

  const requiredOf = (given: Plain, properties: Plain, pointer: string): void => {
    const required: unknown = given['required'];
    if (required === undefined || listOfText(required)) return;
    for (const key of Array.isArray(required) ? required : [])
      if (typeof key !== 'string' || !Object.hasOwn(properties, key))
        add(joinPointer(pointer, 'required'), `names ${JSON.stringify(key)}, which is not under "properties"`);
  };

  const fields = (properties: unknown, pointer: string, place: 'settings' | 'secrets' | 'row'): void => {
    if (!isPlain(properties)) return add(pointer, 'must be an object of fields');
    for (const [key, field] of Object.entries(properties)) {
      const at = joinPointer(pointer, key);
      // Keys also appear in JSON Pointers and in hosts' overrides.
      if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(key)) add(at, 'key must be letters, digits, "_" and "-"');
      visit(field, at, place);
      if (isPlain(field) && !Object.hasOwn(field, 'title')) add(at, 'needs "title", the label people see');
    }
  };

  const visit = (field: unknown, pointer: string, place: 'settings' | 'secrets' | 'row' | 'item'): void => {
    const kind = isPlain(field) ? kindOf(field) : undefined;
    if (!isPlain(field) || !kind)
      return add(
        pointer,
        'is no field: give it a "type" (string, integer, number, boolean), "items", "properties" or "oneOf"',
      );
    if (place === 'secrets' && kind !== 'text' && kind !== 'map')
      return add(pointer, 'a secret is a text or a map of texts');
    if (place === 'row' && kind !== 'text' && kind !== 'number' && kind !== 'boolean')
      return add(pointer, 'a column of a list is a text, a number or a boolean');
    if (place === 'item' && kind !== 'text' && kind !== 'group') return add(pointer, 'a row is a text or an object');
    words(FIELD_WORDS[kind], field, pointer, ['type']);
    if (kind === 'group') {
      fields(field['properties'], joinPointer(pointer, 'properties'), place === 'item' ? 'row' : 'settings');
      if (isPlain(field['properties'])) requiredOf(field, field['properties'], pointer);
    } else if (kind === 'list') visit(field['items'], joinPointer(pointer, 'items'), 'item');
    else if (kind === 'map') visit(field['additionalProperties'], joinPointer(pointer, 'additionalProperties'), 'item');
    else if (kind === 'union') union(field['oneOf'], joinPointer(pointer, 'oneOf'));
  };

  const union = (branches: unknown, pointer: string): void => {
    if (!Array.isArray(branches) || branches.length < 2) return add(pointer, 'must list at least two variants');
    const discriminators = new Set<string>();
    branches.forEach((branch: unknown, index) => {
      const at = joinPointer(pointer, index);
      const properties: unknown = own(branch, 'properties');
      if (!isPlain(branch) || !isPlain(properties)) return add(at, 'must be an object with "title" and "properties"');
      words(FIELD_WORDS.variant, branch, at, ['title']);
      const keys = Object.keys(properties);
      const constants = keys.filter((key) => own(properties[key], 'const') !== undefined);
      const bodies = keys.filter((key) => !constants.includes(key));
      const [discriminator] = constants;
      if (discriminator === undefined || constants.length > 1 || bodies.length > 1)
        return add(at, 'must have one property with "const", and at most one more, the object of its fields');
      discriminators.add(discriminator);
      if (!isText(own(properties[discriminator], 'const'))) add(at, '"const" must be a text');
      for (const key of bodies) {
        const body = properties[key];
        const where = joinPointer(joinPointer(at, 'properties'), key);
        if (!isPlain(body) || kindOf(body) !== 'group') add(where, 'must be an object with "properties"');
        else visit(body, where, 'settings');
      }
    });
    if (discriminators.size > 1)
      add(pointer, `the variants name their choice differently: ${[...discriminators].join(', ')}`);
  };

  if (!isPlain(value)) return [{ file, pointer: '', message: 'must be an object' }];
  const needed = ['type_id', 'kind', 'name', 'description', 'category', 'vendor', 'version', 'evidence', 'config'];
  words(TYPE_WORDS, value, '', needed);
  for (const place of ['settings', 'secrets'] as const) {
    const section = getSection(value, place);
    if (!section) continue;
    const pointer = `/config/${place}`;
    words(FIELD_WORDS.section, section, pointer, []);
    fields(section['properties'], `${pointer}/properties`, place);
    if (isPlain(section['properties'])) requiredOf(section, section['properties'], pointer);
  }
  if (Object.hasOwn(value, 'aws_objects')) awsObjectsShape(value['aws_objects'], '/aws_objects', add);
  if (Object.hasOwn(value, 'delivery')) deliveryShape(value['delivery'], '/delivery', add);
  if (Object.hasOwn(value, 'poll')) pollShape(value['poll'], '/poll', add);
  if (Object.hasOwn(value, 'receive')) receiveShape(value['receive'], '/receive', add);
  if (Object.hasOwn(value, 'setup')) setupShape(value['setup'], '/setup', add);
  if (Object.hasOwn(value, 'oauth')) oauthShape(value['oauth'], '/oauth', add);
  return problems;
}

const getSection = (value: Plain, place: string): Plain | undefined => {
  const section = own(value['config'], place);
  return isPlain(section) ? section : undefined;
};

/** Returns whether a value has the shape of a connector type. */
export const isConnectorType = (value: unknown): value is ConnectorTypeData =>
  checkFormat({ file: '', value }).length === 0;
