/**
 * Random values for a JSON Schema, and random mutations of JSON. Deterministic for the same random
 * numbers.
 */

export type Random = () => number;
export type Schema = Readonly<Record<string, unknown>>;

export const pick = <T>(random: Random, from: readonly T[]): T => {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
};
export const chance = (random: Random, probability: number): boolean => random() < probability;

/** Strings that have broken parsers, databases, regular expressions, headers and file systems. */
export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\uffff',
  '\u202e',
  'ümlaut 漢字 👩‍👩‍👧',
  'x'.repeat(300),
  'x'.repeat(70_000),
  '__proto__',
  'constructor',
  'toString',
  "' or 1=1 --",
  '"; drop table connectors; --',
  '%00',
  '../../../etc/passwd',
  '${7*7}{{7*7}}',
  '<script>alert(1)</script>',
  '\r\nSet-Cookie: a=b',
  '1e400',
  '-0',
  'null',
  '[object Object]',
  '2026-02-30T25:61:61Z',
  'http://[::1',
  'javascript:alert(1)',
  '00000000-0000-4000-8000-000000000000',
  '(a+)+$',
];
const hostileValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  2_147_483_648,
  [],
  {},
  [null],
  [[[[[[[[[[]]]]]]]]]],
  { a: { b: { c: { d: { e: { f: { g: { h: { i: 1 } } } } } } } } },
];

/** Returns a hostile text or value. */
export const anything = (random: Random): unknown =>
  chance(random, 0.5) ? pick(random, hostileTexts) : structuredClone(pick(random, hostileValues));

/**
 * Returns a value that is valid for a schema in most cases. `resolve` returns the target of a
 * `$ref`.
 */
export function valueFor(schema: Schema, random: Random, resolve: (ref: string) => Schema, depth = 0): unknown {
  const { $ref, anyOf, oneOf, allOf, const: constant, enum: choices } = schema;
  if (typeof $ref === 'string') return valueFor(resolve($ref), random, resolve, depth + 1);
  if (constant !== undefined) return constant;
  if (isList(choices)) return pick(random, choices);
  const variants = [anyOf, oneOf].find(isList);
  if (variants) return valueFor(schemaOf(pick(random, variants)), random, resolve, depth + 1);
  if (isList(allOf))
    return Object.assign({}, ...allOf.map((each) => valueFor(schemaOf(each), random, resolve, depth + 1)));
  const type = isList(schema['type']) ? pick(random, schema['type']) : schema['type'];
  switch (type) {
    case 'object':
      return objectFor(schema, random, resolve, depth);
    case 'array':
      return depth > 6
        ? []
        : Array.from({ length: Math.floor(random() * 4) }, () =>
            valueFor(schemaOf(schema['items']), random, resolve, depth + 1),
          );
    case 'string':
      return textFor(schema, random);
    case 'integer':
    case 'number':
      return numberFor(schema, random);
    case 'boolean':
      return chance(random, 0.5);
    case 'null':
      return null;
    default:
      return anything(random);
  }
}

function objectFor(schema: Schema, random: Random, resolve: (ref: string) => Schema, depth: number): object {
  const required = isList(schema['required']) ? schema['required'] : [];
  const made: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schemaOf(schema['properties']))) {
    const wanted = required.includes(name) || (depth < 6 && chance(random, 0.6));
    if (wanted) made[name] = valueFor(schemaOf(field), random, resolve, depth + 1);
  }
  const rest = schema['additionalProperties'];
  if (rest !== undefined && depth < 6) {
    for (let count = Math.floor(random() * 3); count > 0; count -= 1)
      made[pick(random, ['a', 'org_url', 'api_key', 'endpoint', '0'])] = valueFor(
        schemaOf(rest),
        random,
        resolve,
        depth + 1,
      );
  }
  return made;
}

function textFor({ pattern, format, minLength, maxLength, example }: Schema, random: Random): string {
  if (typeof example === 'string' && chance(random, 0.5)) return example;
  if (format === 'uuid') return '00000000-0000-4000-8000-00000000000a';
  if (format === 'date-time') return '2030-01-01T00:00:00.000Z';
  const length = typeof minLength === 'number' ? minLength : 1;
  if (typeof pattern === 'string' || chance(random, 0.7))
    return pick(random, ['demo', 'http', 'a', 'x-1']).padEnd(length, 'x');
  const most = typeof maxLength === 'number' ? maxLength : 64;
  return chance(random, 0.5) ? 'y'.repeat(most) : pick(random, hostileTexts);
}

function numberFor({ minimum, maximum }: Schema, random: Random): number {
  const [low, high] = [typeof minimum === 'number' ? minimum : 0, typeof maximum === 'number' ? maximum : 1_000];
  return pick(random, [low, high, Math.floor(low + random() * (high - low)), low - 1, high + 1]);
}

/** Returns the value with one mutation: a part replaced, removed, duplicated, renamed or added. */
export function harmed(value: unknown, random: Random): unknown {
  if (isObject(value) && chance(random, 0.8)) {
    const entries = Object.entries(value);
    const [key, inner] = entries.length > 0 ? pick(random, entries) : ['a', 1];
    const act = Math.floor(random() * 9);
    const without = Object.fromEntries(entries.filter(([name]) => name !== key));
    if (act === 0) return without;
    if (act === 1)
      return { ...value, [pick(random, ['id', 'type', 'config', 'organization_id', 'x', ''])]: anything(random) };
    if (act === 2) return { ...without, [`${key}${pick(random, ['', ' ', '_', '\u0000'])}`]: inner };
    return { ...value, [key]: act === 3 ? anything(random) : harmed(inner, random) };
  }
  if (isList(value) && value.length > 0 && chance(random, 0.8)) {
    const index = Math.floor(random() * value.length);
    return chance(random, 0.3)
      ? [...value, ...value]
      : value.map((each, place) => (place === index ? harmed(each, random) : each));
  }
  return anything(random);
}

/** Returns the value with one of its strings, at any depth, replaced by a hostile one. */
export function poisoned(value: unknown, random: Random): unknown {
  let left = Math.floor(random() * countTexts(value));
  const visit = (each: unknown): unknown => {
    if (typeof each === 'string') {
      left -= 1;
      return left === -1 ? pick(random, hostileTexts) : each;
    }
    if (isList(each)) return each.map(visit);
    return isObject(each) ? Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, visit(inner)])) : each;
  };
  return visit(value);
}

const countTexts = (value: unknown): number =>
  typeof value === 'string'
    ? 1
    : typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, each) => sum + countTexts(each), 0)
      : 0;
const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !isList(value);
const schemaOf = (value: unknown): Schema => (isObject(value) ? value : {});
