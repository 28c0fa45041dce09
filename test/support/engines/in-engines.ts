import { afterAll, beforeAll, describe, test } from 'vitest';
import { long } from '../long.js';
import type { DrivenBrowser, EngineName } from './driven.js';
import { engines, launchEngine, type Engine } from './engines.js';
import { limits, type LimitName } from './limits.js';

/**
 * Returns the engines of this run: all in the long run, otherwise those in `short`.
 * `ENGINES=WebKit,Firefox` overrides the choice.
 */
export function enginesOf(short: readonly EngineName[]): Engine[] {
  const chosen = process.env['ENGINES']?.split(',');
  return engines.filter(({ name }) => chosen?.includes(name) ?? (long || short.includes(name)));
}

/**
 * Returns the suffix of a test title that gives the reason for a skip. The table in SECURITY.md
 * shows it.
 */
export const skippedBecause = (reason: string): string => `[skipped: ${reason}]`;

/** What a suite receives for one engine. */
export interface InEngine {
  engine: EngineName;
  browser(): DrivenBrowser;
  /** Defines a test that is skipped, with the reason in its title, in engines with this limit. */
  testUnless(limit: LimitName | undefined, title: string, run: () => Promise<void>): void;
}

/**
 * Runs a suite in several engines: a `describe` titled "... in Chromium" and so on, with a browser
 * launched for it.
 * @param short the engines of the short run; the long run uses all
 */
export function inEngines(title: string, short: readonly EngineName[], suite: (use: InEngine) => void): void {
  for (const { name: engine, missing } of enginesOf(short)) {
    if (missing !== undefined) {
      describe.skip(`${title} in ${engine}`, () => test(skippedBecause(missing), () => undefined));
      continue;
    }
    describe(`${title} in ${engine}`, () => {
      let launched: DrivenBrowser | undefined;
      beforeAll(async () => {
        launched = await launchEngine(engine);
      });
      afterAll(() => launched?.close());
      const browser = (): DrivenBrowser => {
        if (!launched) throw new Error(`${engine} has not started`);
        return launched;
      };
      suite({ engine, browser, testUnless: testUnless(engine) });
    });
  }
}

/** Returns `test`, or a skip whose title gives the limit of the engine. */
export function testUnless(engine: EngineName): InEngine['testUnless'] {
  return (limit, title, run) => {
    const reason = limit && limits[limit].engines[engine];
    if (reason === undefined) test(title, run);
    else test.skip(`${title} ${skippedBecause(reason)}`, run);
  };
}
