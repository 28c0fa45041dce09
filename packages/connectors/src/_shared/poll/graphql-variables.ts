import { getAt } from '@connector-frame/catalog/validate';
import type { JsonValue } from '@connector-frame/engine/connector-api';
import { jsonOf } from './template.js';

/**
 * Returns the variables in a list of names and texts, converted to the types that the query declares.
 * GraphQL servers reject a text for a number: https://spec.graphql.org/October2021/#sec-Int.Input-Coercion
 */
export function givenVariables(query: string, list: unknown): Record<string, JsonValue> {
  const rows: unknown[] = Array.isArray(list) ? list : [];
  return Object.fromEntries(
    rows.flatMap((row): [string, JsonValue][] => {
      const name: unknown = getAt(row, '/name');
      const value = jsonOf(getAt(row, '/value'));
      if (typeof name !== 'string' || !/^[A-Za-z_]\w*$/.test(name) || value === undefined) return [];
      const type = new RegExp(String.raw`\$${name}\s*:[\s[]*([A-Za-z_]\w*)`).exec(query)?.[1];
      return [[name, typeof value === 'string' ? converted(value, type) : value]];
    }),
  );
}

function converted(text: string, type: string | undefined): JsonValue {
  const isJson = /^[[{]/.test(text);
  if ((type === 'Int' || type === 'Float') && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (type === 'Boolean' && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (!isJson || type === undefined) return text;
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
