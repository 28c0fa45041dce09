import type { ConnectorConfig, PollDefinition, PollResult, PollValue } from '@connector-frame/catalog/types';
import { getAt, isEmpty } from '@connector-frame/catalog/validate';
import type { JsonValue } from '@connector-frame/engine/connector-api';
import { failed } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';
import { fill, jsonOf, valueOf, type Values } from './template.js';

type Settings = Pick<Values, 'settings'>;

/**
 * Computes the values of a definition from the settings, without those that are empty.
 *
 * @throws PollError `invalid_config`
 */
export function namedValues({ values = {} }: PollDefinition, { settings }: ConnectorConfig): Record<string, JsonValue> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]): [string, JsonValue][] => {
      const computed = compute(value, { settings });
      return computed === undefined ? [] : [[name, computed]];
    }),
  );
}

function compute(value: PollValue, settings: Settings): JsonValue | undefined {
  const all = read(value, settings);
  const given = value.first && all !== undefined && isList(all) ? all[0] : all;
  if (given === undefined) return value.default === undefined ? undefined : resultOf(value.default, settings);
  const { of } = value;
  if (of === undefined) return given;
  if (!isList(given)) return mapped(of, given, settings);
  const items = given.flatMap((item) => mapped(of, item, settings) ?? []);
  return items.length === 0 ? undefined : [...new Set(items)];
}

/** Returns the value of the setting, `undefined` if it is empty. */
function read({ field, split, json, path }: PollValue, settings: Settings): JsonValue | undefined {
  const given = valueOf(field, settings);
  if (given === undefined || isEmpty(given)) return undefined;
  if (path !== undefined) return isList(given) ? valuesAt(given, path) : undefined;
  if (typeof given !== 'string') return given;
  if (json) return parse(given, field);
  if (split === undefined) return given;
  const items = given
    .split(split)
    .map((item) => item.trim())
    .filter((item) => item !== '');
  return items.length === 0 ? undefined : items;
}

/** Returns the values at a path of objects, without empty ones. */
function valuesAt(objects: readonly JsonValue[], path: string): JsonValue | undefined {
  const found = objects.flatMap((each) => jsonOf(getAt(each, path)) ?? []).filter((each) => !isEmpty(each));
  return found.length === 0 ? undefined : found;
}

function parse(text: string, field: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    throw new PollError(failed('invalid_config', 'This is not valid JSON.', { at: field }), 'permanent');
  }
}

function mapped(of: NonNullable<PollValue['of']>, value: JsonValue, settings: Settings): JsonValue | undefined {
  const key = typeof value === 'string' ? value : JSON.stringify(value);
  const result = Object.hasOwn(of, key) ? of[key] : of['*'];
  return result === undefined ? value : resultOf(result, settings);
}

function resultOf(result: PollResult, settings: Settings): JsonValue | undefined {
  if (typeof result === 'string') return fill(result, settings);
  return result ?? undefined;
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
