import { afterAll, beforeAll, describe, test } from 'vitest';
import { long } from '../long.js';
import type { DrivenBrowser, EngineName } from './driven.js';
import { engines, launchEngine, type Engine } from './engines.js';
import { limits, type LimitName } from './limits.js';

/** The engines of this run: all in the long one, those of `short` else. `ENGINES=WebKit,Firefox` chooses others. */
export function enginesOf(short: readonly EngineName[]): Engine[] {
  const chosen = process.env['ENGINES']?.split(',');
  return engines.filter(({ name }) => chosen?.includes(name) ?? (long || short.includes(name)));
}

/** The end of a title that says why a test does not run. The table in SECURITY.md shows it. */
export const skippedBecause = (reason: string): string => `[skipped: ${reason}]`;

/** What a suite has in one engine. */
export interface InEngine {
  engine: EngineName;
  browser(): DrivenBrowser;
  /** A test, skipped by name in an engine that has this limit. */
  testUnless(limit: LimitName | undefined, title: string, run: () => Promise<void>): void;
}

/**
 * Runs a suite in several engines: `describe` of the title with "in Chromium" and so on, and a browser launched for it.
 * @param short the engines of the short run; the long one takes all
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

/** `test`, or a skip whose title says what the engine can't do. */
export function testUnless(engine: EngineName): InEngine['testUnless'] {
  return (limit, title, run) => {
    const reason = limit && limits[limit].engines[engine];
    if (reason === undefined) test(title, run);
    else test.skip(`${title} ${skippedBecause(reason)}`, run);
  };
}
