/**
 * Every connector type, tested end to end: the real form from the real service, in a cross-site
 * frame. `npm test` runs a different sample each day (set `SEED` to repeat one);
 * `npm run test:catalog` runs all types.
 */
import { isDeepStrictEqual } from 'node:util';
import { exampleConfig, type ConnectorKind, type ConnectorTypeData } from '@connector-frame/catalog';
import { pruneConfig, withDefaults } from '@connector-frame/catalog/validate';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withoutAccount } from '../../packages/service/src/connectors/without-account.js';
import { launchBrowser } from '../support/browser.js';
import { allTypes, writePath } from '../support/connectors.js';
import { movesOf, type Move } from '../support/destinations.js';
import { requiredPointers, changesBetween, labelsOf, leavesOf } from '../support/every-type/expected-form.js';
import { openFormTab, type FormTab } from '../support/every-type/form-tab.js';
import { long } from '../support/long.js';
import { covering, sampleOf } from '../support/every-type/type-sample.js';
import { startWorld, type World } from '../support/world.js';

const TABS = 3;
const seed = process.env['SEED'] ?? new Date().toISOString().slice(0, 10);
// The service of this test has no clients at vendors, so it offers no connected accounts.
const all = allTypes().map(withoutAccount);
// A type takes three seconds of CPU time.
const types = long ? all : sampleOf(all, { seed, oneIn: 180, coveringOneIn: 3 });
const title = `${types.length} of ${all.length} types${long ? '' : `, SEED=${seed}`}`;
if (!long) console.log(`every type: ${title}`);

const moveOf = (type: ConnectorTypeData) => movesOf(type).find(({ mark }) => mark === 'destination');

/** A KV lookup output, which the enrichment of that name has to name. */
let tableId = '';

/** Returns a valid configuration with every visible field, and with secrets if the type has any. */
function exampleOf(type: ConnectorTypeData) {
  const { settings, secrets } = moveOf(type)?.before ?? exampleConfig(type.config, { optional: true });
  return {
    settings: { ...settings, ...('kv_lookup_output_id' in settings && { kv_lookup_output_id: tableId }) },
    secrets,
  };
}

/** Returns one destination change, and one transport change that keeps all secrets in use. */
function changesOf(type: ConnectorTypeData): Move[] {
  const example = exampleOf(type);
  const keys = Object.keys(example.secrets).length;
  const weaker = movesOf(type).find(
    ({ mark, before, after }) =>
      mark === 'transport' &&
      isDeepStrictEqual(before, example) &&
      Object.keys(pruneConfig(type.config, after).secrets).length === keys,
  );
  return [moveOf(type), weaker].filter((move) => move !== undefined);
}

/**
 * Types of the sample that together cover all of its kinds of controls. Their forms are filled in with real key and
 * mouse input, which takes seconds; a script fills in the others.
 */
const byHand = covering(types, (type) => leavesOf(type, exampleOf(type)).map(({ control }) => control));

let browser: Browser;
let world: World;
const idle: FormTab[] = [];
const waiting: ((tab: FormTab) => void)[] = [];

beforeAll(async () => {
  const off = ['ADDRESS', 'KEY', 'ORGANIZATION', 'SESSION', 'TEST_TYPE', 'TEST_ORGANIZATION'].map(
    (name) => [`RATE_LIMIT_${name}`, 'off'] as const,
  );
  [browser, world] = await Promise.all([launchBrowser(), startWorld({ ...Object.fromEntries(off), ENGINE: 'off' })]);
  const table = { name: 'Users', type: 'kv-lookup', config: { settings: { key_field: 'id' } } };
  tableId = String((await world.call('POST', `/v2/${world.team}/outputs`, table)).body['id']);
  idle.push(...(await Promise.all(Array.from({ length: TABS }, () => openFormTab(browser, world)))));
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

/** Runs `use` with exclusive access to a tab. */
async function withTab(use: (tab: FormTab) => Promise<void>): Promise<void> {
  const tab = idle.pop() ?? (await new Promise<FormTab>((resolve) => waiting.push(resolve)));
  try {
    await use(tab);
  } finally {
    const next = waiting.shift();
    if (next) next(tab);
    else idle.push(tab);
  }
}

interface Stored {
  version: number;
  config: { settings: unknown; secrets: Record<string, { id: string }> };
}

const stored = async (kind: ConnectorKind, id: string): Promise<Stored> => {
  const path = kind === 'enrichment' ? writePath(world.team, kind) : `/v1/${world.team}/${kind}s`;
  const { status, body } = await world.call('GET', `${path}/${id}`);
  expect(status).toBe(200);
  return body as unknown as Stored;
};
const idsOf = ({ config }: Stored) => Object.entries(config.secrets).map(([field, { id }]) => `${field} ${id}`);

describe.concurrent(title, () => {
  test.each(types.map((type) => ({ name: `${type.kind} ${type.type_id}`, type })))('$name', ({ type }) =>
    withTab(async (tab) => {
      const example = exampleOf(type);

      await tab.open(type);
      const empty = withDefaults(type.config);
      const labels = labelsOf(type, empty);
      expect((await tab.snapshot()).labels, 'the empty form').toEqual(labels);

      const required = requiredPointers(type);
      if (required.length > 0) {
        expect(await tab.save(), 'the empty form must not be saved').toBeUndefined();
        const { summary, errors } = await tab.snapshot();
        expect(summary.map(({ path }) => path).sort()).toEqual(required.toSorted());
        for (const { path, label } of summary) {
          expect([path, label]).toEqual([path, labels[path]]);
          expect(errors[path], `an error at ${path}`).toMatch(/\S/);
        }
      }

      await (byHand.has(type) ? tab.fillByHand : tab.fill)(leavesOf(type, example));
      expect((await tab.snapshot()).labels, 'the filled form').toEqual(labelsOf(type, example));
      expect(await tab.axe()).toEqual([]);
      const id = await tab.save();
      expect((await tab.snapshot()).summary).toEqual([]);
      const made = await stored(type.kind, id ?? '');
      expect(made.config.settings).toEqual(example.settings);
      expect(Object.keys(made.config.secrets).sort()).toEqual(Object.keys(example.secrets).sort());

      await tab.open(type, { existingId: id, isNameEditable: true });
      const secrets = Object.keys(example.secrets).map((key) => `/secrets/${key}`);
      expect((await tab.snapshot()).kept.sort(), 'kept secrets').toEqual(secrets.toSorted());
      for (const move of changesOf(type)) {
        await tab.fill(changesBetween(type, move.before, move.after));
        expect(await tab.save(), `${move.path}: another destination must not get what is kept`).toBeUndefined();
        const { kept, summary } = await tab.snapshot();
        expect(kept).toEqual([]);
        expect(summary.map(({ path }) => path)).toEqual(expect.arrayContaining(secrets));
        await tab.fill(changesBetween(type, move.after, move.before));
        expect((await tab.snapshot()).kept.sort(), 'kept again').toEqual(secrets.toSorted());
      }
      await tab.rename(`Renamed ${type.name}`);
      expect(await tab.save()).toBe(id);
      const renamed = await stored(type.kind, id ?? '');
      expect(renamed.version).toBe(made.version + 1);
      expect(idsOf(renamed)).toEqual(idsOf(made));
      expect(renamed.config.settings).toEqual(made.config.settings);
    }),
  );
});
