import type { Topology } from './topology.js';

/** Starts the processes around the service of a fixture. */
export type StartProcesses = (environment: Readonly<Record<string, string>>) => Promise<Topology>;

let starter: StartProcesses | undefined;

/**
 * Makes fixtures start their service as one of several processes. Not an import of theirs: all tests of a
 * browser would need what the processes need.
 */
export const setStarter = (start: StartProcesses): void => {
  starter = start;
};

/** Returns how fixtures start further processes, or `undefined` if they start none. */
export const processStarter = (): StartProcesses | undefined => starter;
