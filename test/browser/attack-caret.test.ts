import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../packages/engine/src/testing/random.js';
import { openClipboard } from '../support/engines/clipboard.js';
import type { DrivenBrowser } from '../support/engines/driven.js';
import { frameUser } from '../support/engines/frame-user.js';
import { inEngines } from '../support/engines/in-engines.js';
import { pressKeys } from '../support/engines/keys.js';
import { chance, pick } from '../support/fuzz/values.js';
import { differences, traceHost, type HostTrace } from '../support/host-trace/host-trace.js';
import { layoutNames, layoutPath, layoutRoutes, type LayoutName } from '../support/host-trace/layouts.js';
import { dailyPart, longOr } from '../support/long.js';
import { openHost } from '../support/open-host.js';
import { randomSheet } from '../support/random-sheet.js';
import type { Route } from '../support/serve.js';
import { styleRoute } from '../support/style-route.js';
import { startWorld, type World } from '../support/world.js';

/**
 * Non-interference: the page around the form observes the same for every secret. Page layouts,
 * style sheets and secrets are random; set `SEED` to repeat a run.
 */
const seed = process.env['SEED'] ?? new Date().toISOString().slice(0, 10);
const SCENES = longOr(6, 1);
const SECRETS = longOr(8, 3);
/**
 * How many times a pair of secrets is entered again after its traces differ; the order of frames
 * and messages is not deterministic.
 */
const REPEATS = 4;

/**
 * Layouts that show the whole control, so that it accepts input. In the others the control rejects
 * input and gives the reason.
 */
const open: readonly LayoutName[] = ['plain', 'padding', 'restless'];
/** Layouts that scroll smoothly: the positions on the way depend on the clock, so only the last ones are compared. */
const smooth: readonly LayoutName[] = ['smooth'];
const layouts = longOr<readonly LayoutName[]>(layoutNames, dailyPart(['clip', 'restless'] as const, 2));

const fields = {
  'okta-systemlog': 'API token',
  'google-workspace-admin-activity': 'Service account key',
};
type TypeId = keyof typeof fields;
const typeIds = Object.keys(fields) as TypeId[];

let world: World;
const sheetPath = (layout: LayoutName, index: number): string => `/${layout}-${index}.css`;
/** Returns the style sheet of a scene. The first scene of each layout has none. */
const sheetOf = (layout: LayoutName, index: number): string =>
  index === 0 ? '' : randomSheet(seededRandom(hash(`${seed} ${layout} ${index} sheet`)));

beforeAll(async () => {
  const routes: Record<string, Route> = { ...layoutRoutes(), '/leak': styleRoute('') };
  for (const layout of layouts)
    for (let index = 0; index < SCENES; index += 1)
      routes[sheetPath(layout, index)] = styleRoute(sheetOf(layout, index));
  world = await startWorld({}, routes, '127.0.0.1');
});
afterAll(() => world?.close());

interface Scene {
  layout: LayoutName;
  typeId: TypeId;
  sheet: string;
  stylesheets: string[];
  isShown: boolean;
  isPasted: boolean;
}

function randomScene(random: () => number, layout: LayoutName, index: number): Scene {
  const sheet = sheetOf(layout, index);
  return {
    layout,
    typeId: pick(random, typeIds),
    sheet,
    stylesheets: sheet === '' ? [] : [world.host + sheetPath(layout, index)],
    isShown: index % 2 === 1,
    isPasted: chance(random, 0.3),
  };
}

const ASCII = Array.from({ length: 95 }, (_, index) => String.fromCodePoint(32 + index));

/** Returns a secret of 1 to 150 characters. */
const randomSecret = (random: () => number): string =>
  Array.from({ length: 1 + Math.floor(random() ** 2 * 150) }, () => pick(random, ASCII)).join('');

/**
 * What the page observes while a secret is entered and removed, and the control's value before
 * removal.
 */
interface Observed {
  traces: HostTrace[];
  value: string;
}

/** Opens a form in the given scene. */
async function stage(browser: DrivenBrowser, scene: Scene) {
  const { layout, typeId, stylesheets, isShown, isPasted } = scene;
  const label = fields[typeId];
  const clipboard = await openClipboard(browser);
  const page = await openHost(browser, world, { typeId, stylesheets }, layoutPath(layout));
  const user = frameUser(page);
  await user.find({ label });
  const tracer = await traceHost(page, { servers: [world.host, world.service.url] });

  // Do not read from the frame while the page is observed: WebKit's driver moves focus to do so.
  async function traced(keys: () => Promise<void>): Promise<HostTrace> {
    await user.focus({ label });
    // Focus scrolls, starting from the page's previous scroll position.
    await tracer.settled();
    await page.evaluate(scrollAsBefore);
    await tracer.start();
    await keys();
    const trace = await tracer.trace();
    return smooth.includes(layout) ? withoutTransition(trace) : trace;
  }
  async function observe(secret: string): Promise<Observed> {
    if (isPasted) await clipboard.copy(secret);
    const entered = await traced(async () => {
      if (isPasted) await pressKeys(page.keyboard, 'Control+v');
      else await page.keyboard.type(secret);
      await tracer.settled();
      await page.keyboard.press('Tab');
    });
    const value = await user.value(label);
    const removed = await traced(async () => {
      await pressKeys(page.keyboard, 'Control+a');
      await page.keyboard.press('Delete');
    });
    return { traces: [entered, removed], value };
  }

  // The first secret changes the field's message ("required").
  await user.focus({ label });
  await page.keyboard.type('first');
  await tracer.settled();
  if (isShown && (await user.value(label)) === 'first') {
    await user.focus({ role: 'button', name: `Show ${label}` });
    await page.keyboard.press('Enter');
    await user.find({ role: 'button', name: `Hide ${label}` });
  }
  await observe('');
  const close = async (): Promise<void> => {
    tracer.stop();
    await Promise.all([page.close(), clipboard.close()]);
  };
  return { observe, close };
}

inEngines('the form on a hostile page', ['Chromium'], ({ browser }) => {
  describe('S30: what the page observes while a secret is entered and removed', () => {
    test.each(layouts)(
      `is the same for ${SCENES * (SECRETS - 1)} pairs of secrets (SEED=${seed}): layout %s`,
      async (layout) => {
        for (let index = 0; index < SCENES; index += 1) {
          const random = seededRandom(hash(`${seed} ${layout} ${index}`));
          const scene = randomScene(random, layout, index);
          const { observe, close } = await stage(browser(), scene);
          const first = randomSecret(random);
          const reference = await observe(first);
          for (let count = 1; count < SECRETS; count += 1) {
            const secret = randomSecret(random);
            const found = await observe(secret);
            // A sheet can move the control into or out of view.
            if (scene.sheet === '')
              expect(found.value, JSON.stringify(scene)).toBe(open.includes(layout) ? secret : '');
            // A trace that both secrets can produce reveals nothing.
            const [ones, others] = [[reference.traces], [found.traces]];
            let differences = secretsTold(ones, others);
            for (let again = 0; differences.length > 0 && again < REPEATS; again += 1) {
              ones.push((await observe(first)).traces);
              others.push((await observe(secret)).traces);
              differences = secretsTold(ones, others);
            }
            expect(differences, JSON.stringify(scene)).toEqual([]);
          }
          await close();
        }
      },
      900_000,
    );
  });
});

/**
 * Returns a trace with only the last positions and boxes, and without intersections, which the
 * browser samples every 100 ms.
 */
function withoutTransition(trace: HostTrace): HostTrace {
  const remaining = Object.entries(trace).filter(([channel]) => channel !== 'intersection');
  return Object.fromEntries(
    remaining.map(([channel, values]) => [channel, /^(positions|boxes)$/.test(channel) ? values.slice(-1) : values]),
  );
}

/**
 * Returns the channels that distinguish two secrets in every pair of their traces; empty if at
 * least one pair is equal.
 */
function secretsTold(ones: HostTrace[][], others: HostTrace[][]): string[] {
  const found = ones.flatMap((one) =>
    others.map((other) => one.flatMap((trace, part) => differences(trace, other[part] ?? {}))),
  );
  return found.find((channels) => channels.length === 0) ?? found[0] ?? [];
}

/** Runs in the page: restores the scroll positions recorded by the first call. */
function scrollAsBefore(): void {
  const world = globalThis as { scrolled?: [Element, number, number][] };
  world.scrolled ??= [...document.querySelectorAll('*')].map((element) => [
    element,
    element.scrollLeft,
    element.scrollTop,
  ]);
  for (const [element, left, top] of world.scrolled) element.scrollTo({ left, top, behavior: 'instant' });
}

function hash(text: string): number {
  let sum = 0;
  for (const character of text) sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return sum;
}
