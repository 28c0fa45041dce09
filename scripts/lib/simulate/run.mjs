import { readFileSync } from 'node:fs';
import { limits, readEnv } from '@connector-frame/service/limits';
import { format } from './format.mjs';
import { readOptions } from './options.mjs';
import { simulate, TOPOLOGIES } from './simulate.mjs';

/** The measured slopes, and the machine that they were measured on. */
export const readSlopes = () =>
  JSON.parse(readFileSync(new URL('../../../bench/slopes.json', import.meta.url), 'utf8'));

/**
 * Returns what `npm run simulate` prints.
 * @param words its arguments
 * @param environment variables of the service that differ from their defaults
 * @throws OptionError, and EnvironmentError of the service
 */
export function run(words, environment = {}) {
  const { slopes } = readSlopes();
  const { topologies, json, load, plan } = readOptions(words, slopes, TOPOLOGIES);
  const known = { slopes, limits, env: readEnv(environment), plan };
  const results = topologies.map((topology) => simulate(topology, load, known));
  return json ? `${JSON.stringify(results, null, 2)}\n` : format(results);
}
