/**
 * Whether tests run in full: `npm run test:long` sets `LONG=1`. Otherwise they run a short version.
 */
export const long = process.env['LONG'] === '1';

/**
 * Chooses a number of iterations or cases.
 * @param full in the long run
 * @param short otherwise
 */
export const longOr = <T>(full: T, short: T): T => (long ? full : short);

/** Number of the day, in UTC. */
export const day = Math.floor(Date.now() / 86_400_000);

/**
 * Returns all items in the long run. Otherwise a part of them, and another part each day.
 * @param oneIn the part is one in this number
 */
export const dailyPart = <T>(items: readonly T[], oneIn: number): readonly T[] =>
  longOr(
    items,
    items.filter((_item, index) => (index + day) % oneIn === 0),
  );
