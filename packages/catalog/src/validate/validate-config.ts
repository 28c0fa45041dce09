import type {
  ConnectorConfig,
  ConnectorConfigSchema,
  FieldSchema,
  Issue,
  IssueCode,
  NumberSchema,
  ObjectSchema,
  SecretsSchema,
  StringSchema,
} from '../types.js';
import { formatProblem } from './formats.js';
import { isShown } from './is-shown.js';
import { isEmpty, isPlain, isSafeKey, own } from './objects.js';
import { joinPointer } from './pointer.js';
import { privateKeyProblem } from './private-key.js';
import { chosenOf, discriminatorOf, isGroup, isList, isMap, isUnion, variantsOf } from './schema.js';

export interface ValidateOptions {
  /** Keys of the secrets that the service already stores. Their values may be absent. */
  kept?: ReadonlySet<string>;
}

const MAX_DEPTH = 8;
const MAX_TEXT = 65_536;
const MAX_ROWS = 1000;
// Enough for any form, and bounds the size of the result for hostile input.
const MAX_ISSUES = 100;
const MASK = /^[*•●∙·]{4,}$/;

/**
 * Returns everything that is wrong with a configuration, at most one issue per value, in
 * declaration order. Skips fields that are not shown, the bodies of variants that are not selected,
 * and empty rows of a list. Does not apply defaults (`withDefaults` does). Never throws, for any
 * input.
 *
 * @example
 * ```ts
 * const [issue] = validateConfig(type.config, { settings: {}, secrets: {} });
 * // { path: '/settings/org_url', code: 'required' }
 * ```
 */
export function validateConfig(
  schema: ConnectorConfigSchema,
  config: ConnectorConfig,
  options: ValidateOptions = {},
): Issue[] {
  const issues: Issue[] = [];

  const add = (path: string, code: IssueCode, params?: Issue['params'], message?: string): void => {
    if (issues.length < MAX_ISSUES) issues.push({ path, code, ...(params && { params }), ...(message && { message }) });
  };

  const text = (rules: StringSchema, value: string, path: string): void => {
    const maxLength = rules.maxLength ?? MAX_TEXT;
    if (value.length > maxLength) return add(path, 'max_length', { maxLength });
    if (rules.writeOnly && MASK.test(value)) return add(path, 'masked');
    if (rules.enum) return rules.enum.includes(value) ? undefined : add(path, 'enum');
    if (rules.pattern !== undefined && !new RegExp(rules.pattern, 'u').test(value))
      return add(path, 'pattern', undefined, rules['x-message']);
    const { format, minLength = 0, 'x-private-key': keyKind } = rules;
    const wrongKey = keyKind && privateKeyProblem(keyKind, value);
    if (wrongKey) return add(path, 'format', { format: 'private-key', found: wrongKey });
    const found = format && formatProblem(format, value);
    if (format && found !== undefined)
      return add(path, 'format', found ? { format, found } : { format }, rules['x-message']);
    if (value.length < minLength) add(path, 'min_length', { minLength });
  };

  const amount = (rules: NumberSchema, value: number, path: string): void => {
    const { minimum = -Infinity, maximum = Infinity } = rules;
    if (value < minimum) add(path, 'minimum', { minimum });
    else if (value > maximum) add(path, 'maximum', { maximum });
  };

  const unknown = (value: Record<string, unknown>, known: (key: string) => boolean, path: string): void => {
    for (const key of Object.keys(value))
      if (!isSafeKey(key) || !known(key)) add(joinPointer(path, key), 'unknown_property');
  };

  const group = (
    rules: ObjectSchema | SecretsSchema,
    value: Record<string, unknown>,
    path: string,
    depth: number,
  ): void => {
    unknown(value, (key) => Object.hasOwn(rules.properties, key), path);
    for (const [key, field] of Object.entries(rules.properties)) {
      const when = field['x-when'];
      if (!isShown(when, config)) continue;
      const required = when?.required === true || rules.required?.includes(key) === true;
      visit(field, own(value, key), joinPointer(path, key), required, depth + 1);
    }
  };

  const visit = (rules: FieldSchema, value: unknown, path: string, required: boolean, depth: number): void => {
    const type = (): void => add(path, 'type', { type: rules.type });
    if (depth > MAX_DEPTH) return add(path, 'too_deep', { maximum: MAX_DEPTH });
    // A map of names without values is not blank: each value is missing.
    const isNamed = isMap(rules) && isPlain(value) && Object.keys(value).length > 0;
    if (isEmpty(value) && !isNamed) {
      if (!required || ('writeOnly' in rules && options.kept?.has(path.slice('/secrets/'.length)))) return;
      // Report the missing fields of a group, so that each error appears at an input.
      return isGroup(rules) ? group(rules, {}, path, depth) : add(path, 'required');
    }
    if (isList(rules)) {
      if (!Array.isArray(value)) return type();
      const rows: readonly unknown[] = value;
      const filled = rows.filter((row) => !isEmpty(row));
      const { minItems = 0, maxItems = MAX_ROWS } = rules;
      if (filled.length < minItems) return add(path, 'min_items', { minItems });
      if (filled.length > maxItems) return add(path, 'max_items', { maxItems });
      rows.forEach((row, index) => {
        visit(rules.items, row, joinPointer(path, index), false, depth + 1);
        if (rules.uniqueItems && !isEmpty(row) && rows.indexOf(row) < index)
          add(joinPointer(path, index), 'unique_items');
      });
      return;
    }
    if (rules.type === 'object') {
      if (!isPlain(value)) return type();
      if (isMap(rules)) {
        const { maxProperties: maxItems = MAX_ROWS } = rules;
        if (Object.keys(value).length > maxItems) return add(path, 'max_items', { maxItems });
        unknown(value, (key) => key !== '', path);
        for (const key of Object.keys(value)) {
          const leaf = { ...rules.additionalProperties, ...(rules.writeOnly && { writeOnly: true as const }) };
          if (isSafeKey(key)) visit(leaf, own(value, key), joinPointer(path, key), true, depth + 1);
        }
        return;
      }
      if (isUnion(rules)) {
        const discriminator = discriminatorOf(rules);
        const variants = variantsOf(rules);
        unknown(value, (key) => key === discriminator || variants.some((variant) => variant.key === key), path);
        const chosen = chosenOf(rules, value);
        const { key = '', body } = chosen ?? {};
        const inner = own(value, key);
        if (!chosen) {
          if (!isEmpty(own(value, discriminator))) add(joinPointer(path, discriminator), 'enum');
          else if (required) add(path, 'required');
        } else if (body && !isEmpty(inner) && !isPlain(inner)) add(joinPointer(path, key), 'type', { type: 'object' });
        else if (body) group(body, isPlain(inner) ? inner : {}, joinPointer(path, key), depth + 1);
        return;
      }
      return group(rules, value, path, depth);
    }
    if (rules.type === 'string') return typeof value === 'string' ? text(rules, value, path) : type();
    if (rules.type === 'boolean') return typeof value === 'boolean' ? undefined : type();
    if (typeof value !== 'number' || !Number.isFinite(value) || (rules.type === 'integer' && !Number.isInteger(value)))
      return type();
    amount(rules, value, path);
  };

  for (const section of ['settings', 'secrets'] as const) {
    const value: unknown = own(config, section) ?? {};
    if (isPlain(value)) group(schema[section], value, `/${section}`, 0);
    else add(`/${section}`, 'type', { type: 'object' });
  }
  return issues;
}
