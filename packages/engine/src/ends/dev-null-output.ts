import { WRITTEN, type Output } from '../runner/ends.js';

/** Creates an output that accepts every record and discards it. */
export const createDevNullOutput = (): Output => ({ write: () => Promise.resolve(WRITTEN) });
