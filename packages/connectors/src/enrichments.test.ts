import { exampleConfig } from '@connector-frame/catalog';
import { expect, test } from 'vitest';
import { createEgress } from '@connector-frame/engine/egress';
import { ManualClock } from '@connector-frame/engine/testing';
import { typeOf } from '../../../test/support/declared-fields.js';
import { registry } from './registry.js';

const enrichments = [...registry].flatMap(([name, { createEnrichment }]) =>
  createEnrichment ? [[name, createEnrichment] as const] : [],
);
const table = { get: () => Promise.resolve(new Map<string, string>()), put: () => Promise.resolve() };

test.each(enrichments)('%s runs with the fields that the catalog declares', async (name, create) => {
  const type = typeOf(name);
  for (const optional of [false, true]) {
    const config = exampleConfig(type.config, { optional });
    const made = create(config, {
      type,
      egress: createEgress({ allow: [] }),
      clock: new ManualClock(),
      keyValues: { own: table, of: () => table },
      lookupFolders: ['/nonexistent'],
    });
    expect([made.joinPath.length > 0, made.destination.length > 0]).toEqual([true, true]);
    expect(JSON.stringify(made.example).length).toBeGreaterThan(10);
    await made.close?.();
  }
});
