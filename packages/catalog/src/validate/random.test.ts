/** Properties of the validator that hold for any input. */
import { describe, expect, it } from 'vitest';
import type { ConnectorConfig } from '../types.js';
import { destinationOf } from './destination.js';
import { withDefaults } from './defaults.js';
import { good, schema } from './fixture.js';
import { getAt, setAt } from './pointer.js';
import { pruneConfig } from './prune-config.js';
import { validateConfig } from './validate-config.js';

/** Small seeded generator (mulberry32), so that failures are reproducible. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const KEYS = Object.keys(schema.settings.properties).concat([
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '',
  '0',
  'a/b~',
  'type',
  'key_body',
  'name',
  'token',
  'cert',
]);
// oxfmt-ignore
const LEAVES = [
  '', ' ', 'x', 'key', 'none', 'safe', '••••', 'https://acme.example', '* * * * *', 'a'.repeat(100), '\u0000', '\ud800',
  0, -1, 1.5, 1e308, Number.NaN, Infinity, null, undefined, true, false,
];

function anything(next: () => number, depth: number): unknown {
  const pick = next();
  if (depth === 0 || pick < 0.4) return LEAVES[Math.floor(next() * LEAVES.length)];
  const size = Math.floor(next() * 6);
  if (pick < 0.6) return Array.from({ length: size }, () => anything(next, depth - 1));
  const value = {};
  for (let count = 0; count < size; count++) {
    const key = KEYS[Math.floor(next() * KEYS.length)] ?? '';
    Object.defineProperty(value, key, { value: anything(next, depth - 1), enumerable: true, configurable: true });
  }
  return value;
}

const configs = Array.from({ length: 1000 }, (_, seed) => {
  const next = random(seed);
  // Half are arbitrary from the root; the other half have both sections, with arbitrary contents.
  const wild = anything(next, 6);
  const value: unknown = seed % 2 ? wild : { settings: wild, secrets: anything(next, 3) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the point is that it may be anything
  return value as ConnectorConfig;
});

describe('with a thousand random configurations', () => {
  it('validateConfig returns issues with pointers and without values', () => {
    for (const config of configs)
      for (const issue of validateConfig(schema, config)) {
        expect(issue.path).toMatch(/^\/(settings|secrets)/);
        for (const param of Object.values(issue.params ?? {})) expect(['x', '••••']).not.toContain(param);
      }
  });

  it('pruneConfig is idempotent and keeps a valid configuration valid', () => {
    for (const config of configs) {
      const once = pruneConfig(schema, config);
      expect(pruneConfig(schema, once)).toEqual(once);
      if (validateConfig(schema, config).length === 0) expect(validateConfig(schema, once)).toEqual([]);
    }
  });

  it('pruneConfig does not change the destination', () => {
    for (const { settings } of configs.filter((config) => typeof config?.settings === 'object' && config.settings)) {
      const pruned = pruneConfig(schema, { settings, secrets: {} }).settings;
      expect(destinationOf(schema, pruned)).toBe(destinationOf(schema, settings));
    }
  });

  it('withDefaults is idempotent', () => {
    for (const config of configs) {
      const once = withDefaults(schema, config);
      expect(withDefaults(schema, once)).toEqual(once);
    }
  });

  it('setAt and getAt do not change prototypes', () => {
    for (const config of configs) {
      for (const key of KEYS) setAt(config ?? {}, `/settings/${key}/x`, 1);
      getAt(config, '/settings/__proto__/x');
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(Object.hasOwn(Object, 'x')).toBe(false);
  });
});

const deep = (open: string, close: string): unknown => JSON.parse(open.repeat(5000) + '1' + close.repeat(5000));

it('does not overflow the stack with deeply nested values', () => {
  for (const value of [deep('[', ']'), deep('{"rate":', '}')])
    for (const key of Object.keys(schema.settings.properties)) {
      const config = { settings: { ...good.settings, [key]: value }, secrets: { token: 'abcd' } };
      expect(() => [validateConfig(schema, config), pruneConfig(schema, config)]).not.toThrow();
    }
});
