import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { lifecycle } from './behaviors/lifecycle.js';
import { basics } from './behaviors/basics.js';
import { changes } from './behaviors/changes.js';
import { failures } from './behaviors/failures.js';
import { hostile } from './behaviors/hostile.js';
import { appearance } from './behaviors/appearance.js';
import { policies } from './behaviors/policies.js';
import type { EngineName } from '../support/engines/driven.js';
import { enginesOf, testUnless, type InEngine } from '../support/engines/in-engines.js';
import { dailyPart, long } from '../support/long.js';
import type { PageKind } from './host-page.js';
import { startFixture, type Fixture } from './fixture.js';
import type { Tab } from './tab.js';
import type { Adapter } from './adapters.js';

/** What a behavior suite receives. */
export interface Use {
  engine: EngineName;
  adapter: Adapter;
  fixture(): Fixture;
  /** Opens a host page. It is closed after the test. */
  open(kind?: PageKind): Promise<Tab>;
  /** Defines a test that is skipped, with the reason in its title, in engines with this limit. */
  testUnless: InEngine['testUnless'];
}

const all = [basics, failures, changes, lifecycle, hostile, policies, appearance];

/** The adapters beside the element that the short run tests: another one each day. */
const others = dailyPart(['React 19', 'Vue', 'the function'], 3);

/**
 * The short run tests all behaviors of the element in Chromium, and of one of the others, which it
 * is built on or which wrap it, those that they add to. The long run tests everything in Chromium
 * and Firefox and takes minutes longer: `npm run test:contract`.
 */
const behaviorsOf = (name: string) => (long || name === 'the element' ? all : [basics, changes]);

/**
 * Defines the behavior that every adapter must have in every engine, with a real service, a host on
 * another site, and real mouse and key input.
 */
export function runFrameContract(name: string, adapter: Adapter): void {
  let fixture: Fixture;
  const engines = enginesOf(long ? ['Chromium', 'Firefox'] : ['Chromium']);
  const isRun = long || name === 'the element' || others.includes(name);
  const present = engines.flatMap(({ name, missing }) => (missing === undefined ? [name] : []));

  beforeAll(async () => {
    fixture = await startFixture(adapter, present);
  });
  afterEach(() => fixture.clear());
  afterAll(() => fixture?.close());

  for (const engine of engines) {
    describe.runIf(isRun && engine.missing === undefined)(`${name} in ${engine.name}`, () => {
      const use: Use = {
        engine: engine.name,
        adapter,
        fixture: () => fixture,
        open: (kind) => fixture.open(engine.name, kind),
        testUnless: testUnless(engine.name),
      };
      for (const behaviors of behaviorsOf(name)) behaviors(use);
    });
  }
}
