import { z } from '@hono/zod-openapi';
import { mergePatch } from '../connectors/merge-patch.js';
import type { StoredNode } from '../store/tables.js';

type Settings = Record<string, unknown>;

/** What a node changes in the configuration of its connector, in a request. */
export const ConfigOverridesWrite = z
  .strictObject({
    settings: z.record(z.string(), z.unknown()).default({}).openapi({
      description:
        'Settings that differ, merged as by RFC 7396: objects are merged, null removes a setting, and a list replaces the whole list.',
    }),
  })
  .openapi('ConfigOverridesWrite', {
    description:
      'What this node changes in the settings of its input or output, for this pipeline alone. It must not change where stored secrets are sent.',
    example: { settings: { batch_size: 100 } },
  });

/** The same in responses. */
export const ConfigOverrides = z
  .object({ settings: z.record(z.string(), z.unknown()) })
  .openapi('ConfigOverrides', { description: 'What this node changes in the settings of its input or output.' });

/** Returns the settings that a node changes, or `undefined` if it changes none. */
export function overridesOf(node: StoredNode): { settings: Settings } | undefined {
  const read = ConfigOverridesWrite.safeParse(node['config_overrides']);
  return read.success && Object.keys(read.data.settings).length > 0 ? read.data : undefined;
}

/** Returns the settings that a node runs with. */
export const settingsAt = (node: StoredNode, settings: Readonly<Settings>): Readonly<Settings> => {
  const overrides = overridesOf(node);
  return overrides ? mergePatch(settings, overrides.settings) : settings;
};
