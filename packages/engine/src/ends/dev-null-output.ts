import { WRITTEN, type Output } from '../runner/ends.js';

/** An output that takes everything and keeps nothing. */
export const createDevNullOutput = (): Output => ({ write: () => Promise.resolve(WRITTEN) });
