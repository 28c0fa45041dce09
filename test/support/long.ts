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
