import { WRITTEN, type Output } from '@connector-frame/engine/connector-api';

/** Creates an output that accepts every record and discards it. */
export const createDevNullOutput = (): Output => ({ write: () => Promise.resolve(WRITTEN) });
