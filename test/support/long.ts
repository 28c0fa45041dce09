/** Set by `npm run test:long` (`LONG=1`): tests then run in full. Without it they run a short version of themselves. */
export const long = process.env['LONG'] === '1';

/**
 * A number of turns or cases.
 * @param full in the long run
 * @param short otherwise
 */
export const longOr = <T>(full: T, short: T): T => (long ? full : short);
