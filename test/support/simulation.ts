import { limits, readEnv } from '../../packages/service/src/limits.js';

export interface Load {
  organizations: number;
  pipelines: number;
  connectors: number;
  polled: number;
  pollSeconds: number;
  listening: number;
  recordsPerSecond: number;
  recordBytes: number;
  recordsPerRequest: number;
  callsPerSecond: number;
}
export interface Limit {
  id: string;
  used: number;
  limit: number;
  at?: number;
  hard: boolean;
  action: string;
}
export interface Result {
  usage: {
    processes: number;
    streams: number;
    jetStreamStreams: number;
    connections: number;
    leases: { database: number };
    rows: Record<string, number>;
    allRows: number;
    databaseBytes: number;
    bytesPerDay: Record<string, number>;
    cores: { service: number; database: number; nats?: number };
    busiest: number;
    memory: { service: number };
    heap: number;
    series: number;
    rates: Record<string, number>;
  };
  limits: Limit[];
  exceeded: Limit[];
  coming: Required<Limit>[];
}
export type Slopes = Record<string, { value: number; unit: string; how: string }>;
interface Known {
  slopes: Slopes;
  limits: typeof limits;
  env: ReturnType<typeof readEnv>;
  plan: object;
}
interface Scripts {
  TOPOLOGIES: string[];
  simulate(topology: string, load: Load, known: Known): Result;
  grow(load: Load, factor: number): Load;
  exceededBy(topology: string, load: Load, known: Known): string[];
  readOptions(words: string[], slopes: Slopes, topologies: string[]): { load: Load; plan: object };
  readSlopes(): { slopes: Slopes };
  sizingPage(text: string): Promise<string>;
}

const script = async (name: string) => import(new URL(`../../scripts/lib/simulate/${name}.mjs`, import.meta.url).href);
/** The modules of `npm run simulate`, with types. */
export const simulation: Scripts = {
  ...(await script('simulate')),
  ...(await script('options')),
  ...(await script('run')),
  ...(await script('page')),
};
const { TOPOLOGIES, simulate, readOptions, readSlopes } = simulation;
/** The measured slopes. */
export const { slopes } = readSlopes();

/** Reads arguments as the command does, and simulates with the measured slopes unless others are given. */
export function simulated(topology: string, words: string[], { environment = {}, given = slopes } = {}): Result {
  const { load, plan } = readOptions(words, given, TOPOLOGIES);
  return simulate(topology, load, { slopes: given, limits, env: readEnv(environment), plan });
}

/** Returns a limit of a result. */
export const limitIn = (result: Result, id: string): Limit => {
  const found = result.limits.find((limit) => limit.id === id);
  if (!found) throw new Error(`There is no limit ${id}.`);
  return found;
};
