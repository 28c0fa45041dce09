import { parseArgs } from 'node:util';

const GIB = 2 ** 30;

/** What `npm run simulate` asks for: name, default and meaning. */
export const OPTIONS = [
  ['organizations', 100, 'teams of your customers'],
  ['pipelines', 1_000, 'pipelines, each from one input to one output of type http'],
  ['connectors', undefined, 'inputs and outputs in all; by default, two per pipeline'],
  ['polled', 0, 'pipelines whose input polls an API; the others receive records'],
  ['poll-seconds', 60, 'seconds between two polls of one input'],
  ['listening', 0, 'inputs that listen on a port, such as syslog'],
  ['records-per-second', 1_000, 'records of all pipelines'],
  ['record-bytes', 600, 'bytes of a record as JSON'],
  ['records-per-request', 100, 'records that a sender puts into one request'],
  ['calls-per-second', 0, 'API requests of all organizations, for reading'],
  ['processes', undefined, 'processes of the service; by default one, or with ENGINE=shared as many as needed'],
  ['utilization', 0.7, 'share of a core, or of the memory of JavaScript, that you plan with'],
  ['database-cores', 4, 'cores of PostgreSQL'],
  ['database-connections', undefined, "max_connections of PostgreSQL; by default, PostgreSQL's default"],
  ['database-gib', 100, 'GiB of disk for the database'],
  ['nats-cores', 4, 'cores of NATS'],
  ['buffer-gib', 100, 'GiB of disk for buffers'],
  ['outage-hours', 1, 'hours for which outputs may be away'],
];

/** Thrown for an argument that can't be used. The message says which, and what it must be. */
export class OptionError extends Error {
  name = 'OptionError';
}

/**
 * Reads the arguments of `npm run simulate`.
 * @param slopes the measured ones: they have what PostgreSQL allows by default
 * @returns `load` and `plan` of `simulate`, and `json`, `measure`, `topologies`
 * @throws OptionError
 */
export function readOptions(words, slopes, topologies) {
  const options = Object.fromEntries(OPTIONS.map(([name]) => [name, { type: 'string' }]));
  let given;
  try {
    given = parseArgs({
      args: words,
      options: { ...options, topology: { type: 'string', multiple: true }, json: { type: 'boolean' } },
    }).values;
  } catch (error) {
    throw new OptionError(error.message, { cause: error });
  }
  const number = (name) => {
    const [, fallback] = OPTIONS.find(([each]) => each === name);
    if (given[name] === undefined) return fallback;
    const value = Number(given[name]);
    if (!Number.isFinite(value) || value < 0 || given[name] === '')
      throw new OptionError(`--${name} must be a number, at least 0: --${name} ${fallback ?? 100}`);
    return value;
  };
  const positive = (name) => {
    const value = number(name);
    if (value === 0) throw new OptionError(`--${name} must be more than 0.`);
    return value;
  };
  const chosen = given.topology ?? topologies;
  const unknown = chosen.find((name) => !topologies.includes(name));
  if (unknown !== undefined) throw new OptionError(`--topology must be one of ${topologies.join(', ')}.`);
  const pipelines = number('pipelines');
  const polled = number('polled');
  if (polled > pipelines) throw new OptionError('--polled must be at most --pipelines.');
  return {
    topologies: chosen,
    json: given.json === true,
    load: {
      organizations: number('organizations'),
      pipelines,
      connectors: number('connectors') ?? 2 * pipelines,
      polled,
      pollSeconds: positive('poll-seconds'),
      listening: number('listening'),
      recordsPerSecond: number('records-per-second'),
      recordBytes: number('record-bytes'),
      recordsPerRequest: positive('records-per-request'),
      callsPerSecond: number('calls-per-second'),
    },
    plan: {
      processes: number('processes'),
      utilization: positive('utilization'),
      databaseCores: positive('database-cores'),
      databaseConnections: number('database-connections') ?? slopes['server.connections'].value,
      reservedConnections: slopes['server.reserved-connections'].value,
      databaseBytes: number('database-gib') * GIB,
      natsCores: positive('nats-cores'),
      bufferBytes: number('buffer-gib') * GIB,
      outageHours: number('outage-hours'),
    },
  };
}
