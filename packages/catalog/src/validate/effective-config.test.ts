import { expect, it } from 'vitest';
import { CONNECTOR_KINDS, loadCatalog } from '../index.js';
import { exampleConfig } from '../example-config.js';
import { effectiveConfig, pruneConfig, withDefaults } from '../validate.js';

const catalog = loadCatalog();
const types = CONNECTOR_KINDS.flatMap((kind) => catalog.list(kind));

it.each(types.map(({ kind, type_id: id, config }) => [`${kind} ${id}`, config] as const))(
  'settings have the same effect with and without their stored defaults: %s',
  (_, schema) => {
    for (const optional of [true, false]) {
      const { settings } = exampleConfig(schema, { optional });
      const whole = pruneConfig(schema, withDefaults(schema, { settings })).settings;
      // Secrets of earlier releases are bound to the effect of stored settings that have all defaults.
      const effect = withDefaults(schema, pruneConfig(schema, { settings: whole, secrets: {} }));
      expect(effectiveConfig(schema, whole)).toEqual(effect);
      expect(effectiveConfig(schema, settings)).toEqual(effect);
    }
  },
);
