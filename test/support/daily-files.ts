import { day, long } from './long.js';

/**
 * Browser tests take a second of CPU time each, and hours in total with all languages, frameworks
 * and themes. The tests of these files do not depend on each other, so a complete run of `npm test`
 * executes one in so many, another one each day. `npm run test:long`, and `npm test` or Vitest with
 * the name of a file, execute all. Files about attacks are not in the list.
 */
const PARTS: readonly (readonly [files: RegExp, oneIn: number])[] = [
  // At least ten tests each.
  [/^demo-(page|pipelines)$/, 5],
  [/^frame-contract-element$/, 5],
  [/^(secret-control|form-view|unsaved-input|leave|commands|guides|preload|react|element-messages)$/, 5],
  [/^core-(failures|protocol|session|teardown)$/, 5],
  [/^(form-states|form-appearance|accessible-form|drop-in|set-up|frame-failures|vue)$/, 3],
  [/^core-(options|origins|policies|testing)$/, 3],
  [/^element-(dev-mode|host-routes|life|page|preload|settings)$/, 3],
  [/^connector-catalog(-adapters)?$/, 3],
  [/^(engines|frame-requests)$/, 3],
  // Each of these is the adapter of its day.
  [/^frame-contract-(function|react-19|vue)$/, 2],
  [/^(demo-pipelines-look|gallery-page|saved-only)$/, 2],
];

const isPart = process.env['DAILY_PART'] === '1' && !long;

/**
 * Returns in how many days each test of the file runs once, 1 for all tests every day.
 * @param path relative to the repository
 */
export function daysOf(path: string): number {
  const [, name = ''] = /^test\/browser\/(.*)\.test\.ts$/.exec(path) ?? [];
  return (isPart && PARTS.find(([files]) => files.test(name))?.[1]) || 1;
}

/** Returns whether a test runs today. `index` is its position in the file. */
export const isToday = (path: string, index: number): boolean => (index + day) % daysOf(path) === 0;
