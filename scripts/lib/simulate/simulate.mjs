/**
 * Computes what a load needs from measured slopes and the limits of the code. Pure: the same arguments
 * give the same result.
 */
import { connectionsAtMost, limitsOf } from './limits.mjs';

/** What an operator can start, from one process to several. */
export const TOPOLOGIES = ['embedded', 'postgres', 'nats', 'shared', 'shared-nats'];

const SECONDS_PER_DAY = 86_400;
const MS_PER_SECOND = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Which processes write the buffers. */
const BUFFERED_BY = {
  embedded: 'service',
  postgres: 'service',
  nats: 'nats',
  shared: 'database',
  'shared-nats': 'nats',
};
/** Connectors that the measured pipeline has. */
const CONNECTORS_PER_PIPELINE = 2;

/**
 * Returns what a topology uses for a load, its limits, and which ones come next.
 * @param topology one of `TOPOLOGIES`
 * @param load `organizations`, `pipelines`, `connectors`, `polled`, `pollSeconds`, `listening`,
 *   `recordsPerSecond`, `recordBytes`, `recordsPerRequest`, `callsPerSecond`
 * @param known `slopes` by name, `limits` of the code, the variables `env`, and `plan`: what the
 *   operator has
 */
export function simulate(topology, load, known) {
  const usage = usageOf(topology, load, known);
  const limits = limitsOf(topology, load, usage, known).map((limit) => ({
    ...limit,
    share: limit.used / limit.limit,
    ...(limit.used > limit.limit ? {} : { at: growthTo(limit.id, topology, load, known) }),
  }));
  const exceeded = limits.filter(({ at }) => at === undefined);
  const coming = limits.filter(({ at }) => at !== undefined && Number.isFinite(at)).toSorted((a, b) => a.at - b.at);
  return { topology, load, usage, limits, exceeded, coming };
}

/** Returns the ids of the limits that a load exceeds. */
export const exceededBy = (topology, load, known) =>
  limitsOf(topology, load, usageOf(topology, load, known), known)
    .filter(({ used, limit }) => used > limit)
    .map(({ id }) => id);

/** Returns a load that has grown by a factor, in all that grows with the number of customers. */
export function grow(load, factor) {
  const grown = { ...load };
  for (const name of [
    'organizations',
    'pipelines',
    'connectors',
    'polled',
    'listening',
    'recordsPerSecond',
    'callsPerSecond',
  ])
    grown[name] = load[name] * factor;
  return grown;
}

const MAX_GROWTH = 10_000;

/** Returns the factor of growth at which a limit is reached; `Infinity` if it does not depend on the load. */
function growthTo(id, topology, load, known) {
  const fits = (factor) => !exceededBy(topology, grow(load, factor), known).includes(id);
  if (fits(MAX_GROWTH)) return Number.POSITIVE_INFINITY;
  let [low, high] = [1, MAX_GROWTH];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** Returns what happens in a second, by the slope that it costs. */
export function ratesOf(load, limits) {
  const { pipelines, polled, pollSeconds, recordsPerSecond, recordsPerRequest, callsPerSecond } = load;
  const pushed = pipelines - polled;
  const perPipeline = pipelines === 0 ? 0 : recordsPerSecond / pipelines;
  const requestsOfOne = perPipeline / recordsPerRequest;
  const pollsOfOne = 1 / pollSeconds;
  const pagesOfOne = Math.min(pollsOfOne, perPipeline);
  const reportsAtMost = MS_PER_SECOND / limits.report;
  const outputOf = (arrivals) =>
    Math.max(perPipeline / limits.httpBatchRecords, Math.min(arrivals, MS_PER_SECOND / limits.httpBatch));
  return {
    pushed,
    perPipeline,
    requests: pushed * requestsOfOne,
    pushedRecords: pushed * perPipeline,
    polls: polled * pollsOfOne,
    pages: polled * pagesOfOne,
    polledRecords: polled * perPipeline,
    reports: pushed * Math.min(reportsAtMost, requestsOfOne) + polled * Math.min(reportsAtMost, pagesOfOne),
    outputRequests: pushed * outputOf(requestsOfOne) + polled * outputOf(pagesOfOne),
    records: recordsPerSecond,
    calls: callsPerSecond,
  };
}

function usageOf(topology, load, { slopes, limits, env, plan }) {
  const cost = (id) => slopes[`${topology}.${id}`]?.value ?? 0;
  const common = (id) => slopes[id]?.value ?? 0;
  const rates = ratesOf(load, limits);
  const { pipelines, recordBytes } = load;
  const bytes = rates.pushedRecords * recordBytes;

  /** Milliseconds a second, without what a process uses while nothing happens. */
  const workOf = (role) =>
    rates.requests * cost(`request.cpu.${role}`) +
    rates.pushedRecords * cost(`record.cpu.${role}`) +
    bytes * cost(`byte.cpu.${role}`) +
    rates.reports * cost(`report.cpu.${role}`) +
    rates.outputRequests * cost(`http-request.cpu.${role}`) +
    rates.records * (cost(`http-record.cpu.${role}`) + recordBytes * cost(`http-byte.cpu.${role}`)) +
    rates.polls * common(`poll.cpu.${role}`) +
    rates.polledRecords * common(`polled-record.cpu.${role}`) +
    rates.pages * common(`cursor.cpu.${role}`) +
    rates.calls * cost(`call.cpu.${role}`);
  const idle = cost('base.cpu.service') + pipelines * cost('pipeline.cpu.service');
  const processes = processesOf(topology, {
    idle,
    work: workOf('service'),
    plan,
    limits,
    connections: connectionsAtMost(topology, { limits, plan }),
  });
  // Only with several engines does another process share the work; API calls can go to any.
  const isShared = topology.startsWith('shared');
  const hasNats = BUFFERED_BY[topology] === 'nats';
  const busiest = (idle + (isShared ? workOf('service') / processes : workOf('service'))) / MS_PER_SECOND;
  const cores = {
    service: (idle * (isShared ? processes : 1) + workOf('service')) / MS_PER_SECOND,
    database:
      (cost('base.cpu.database') +
        pipelines * cost('pipeline.cpu.database') +
        (processes - 1) * cost('further.cpu.database') +
        workOf('database')) /
      MS_PER_SECOND,
    ...(hasNats && {
      nats: (cost('base.cpu.nats') + pipelines * cost('pipeline.cpu.nats') + workOf('nats')) / MS_PER_SECOND,
    }),
  };

  const heapOfPipelines = rates.pushed * cost('pipeline.heap') + load.polled * common('polled-pipeline.heap');
  const heap = cost('base.heap') + heapOfPipelines;
  const memory = {
    service: cost('base.memory') + heapOfPipelines,
    database: cost('loaded.memory.database'),
    ...(hasNats && { nats: cost('loaded.memory.nats') }),
  };

  const stored = rowsOf(topology, load, { slopes, limits, env, rates });
  const written = (part) => cost(`${part}.written.${BUFFERED_BY[topology]}`);
  const buffers =
    rates.requests * written('request') + rates.pushedRecords * written('record') + bytes * written('byte');
  // A record is stored as one line.
  const waiting =
    rates.pushed === 0 ? 0 : rates.perPipeline * (recordBytes + 1) * plan.outageHours * (HOUR_MS / MS_PER_SECOND);
  return {
    processes,
    streams: rates.pushed,
    jetStreamStreams: hasNats ? env.NATS_STREAMS : 0,
    files: rates.pushed * cost('pipeline.files'),
    connections: processes * limits.connections + (isShared ? processes * limits.reservedConnections : 0),
    natsConnections: hasNats ? processes : 0,
    leases: isShared ? { database: 1 + pipelines, members: processes } : { database: 1, members: 0 },
    ...stored,
    bytesPerDay: {
      buffers: buffers * SECONDS_PER_DAY,
      ...stored.bytesPerDay,
    },
    logEntries: Math.min(pipelines * limits.logEntries, isShared ? Number.POSITIVE_INFINITY : limits.allLogEntries),
    cores,
    busiest,
    memory,
    heap,
    series: Math.min(pipelines, env.METRICS_PIPELINES) * cost('pipeline.series'),
    rates,
    waiting: { perStream: waiting, all: waiting * rates.pushed },
  };
}

/** Returns how many processes share the work: those of the plan, or as few as keep each below its share of a core. */
function processesOf(topology, { idle, work, plan, limits, connections }) {
  if (topology === 'embedded') return 1;
  if (plan.processes !== undefined) return plan.processes;
  if (!topology.startsWith('shared')) return 1;
  const most = Math.max(2, Math.floor(connections / (limits.connections + limits.reservedConnections)));
  const room = plan.utilization * MS_PER_SECOND - idle;
  return room <= 0 ? most : Math.max(2, Math.ceil(work / room - 1e-9));
}

/** Returns the rows of each table once counts and usage are as old as they become, and what is added in a day. */
function rowsOf(topology, load, { slopes, limits, env, rates }) {
  // The tables of the embedded database are the same, and were not counted.
  const counted = topology === 'embedded' ? 'postgres' : topology;
  const rows = {};
  const add = (table, count) => (rows[table] = (rows[table] ?? 0) + count);
  const addAll = (of, count) => {
    const prefix = `${counted}.${of}.rows.`;
    for (const [id, { value }] of Object.entries(slopes))
      if (id.startsWith(prefix)) add(id.slice(prefix.length), value * count);
  };
  const { organizations, pipelines, connectors } = load;
  addAll('tenant', organizations);
  addAll('connector', Math.max(0, connectors - CONNECTORS_PER_PIPELINE * pipelines));
  addAll('pipeline', pipelines);
  if (rates.records > 0) addAll('traffic', pipelines);

  // A row is there for each minute, and later for each hour, in which something was counted.
  const arrivals = (pushed) =>
    pushed ? rates.perPipeline / load.recordsPerRequest : Math.min(1 / load.pollSeconds, rates.perPipeline);
  const share = (seconds) =>
    pipelines === 0
      ? 0
      : (rates.pushed * Math.min(1, arrivals(true) * seconds) + load.polled * Math.min(1, arrivals(false) * seconds)) /
        pipelines;
  const kept = (byMinute, days) =>
    (byMinute / 60_000) * share(60) + Math.max(0, (days * DAY_MS - byMinute) / HOUR_MS) * share(3_600);
  const nodes = slopes[`${counted}.traffic.rows.usage_series`]?.value ?? 0;
  add('pipeline_counts', pipelines * kept(limits.countsByMinute, env.METRICS_DAYS));
  add('usage_counts', pipelines * nodes * kept(limits.usageByMinute, env.USAGE_DAYS));
  add('usage_days', rates.records > 0 ? Math.min(organizations, pipelines) * env.USAGE_DAYS : 0);

  if (topology === 'shared' && rates.records > 0) add('bus_batch_ids', rates.pushed * limits.recentIds);
  const bytesOf = (table) => slopes[`row.bytes.${table}`]?.value ?? 0;
  const minutes = (SECONDS_PER_DAY / 60) * share(60);
  return {
    rows,
    allRows: Object.values(rows).reduce((sum, each) => sum + each, 0),
    databaseBytes: Object.entries(rows).reduce((sum, [table, count]) => sum + count * bytesOf(table), 0),
    rowsPerDay: pipelines * minutes * (1 + nodes),
    bytesPerDay: {
      counts: pipelines * minutes * bytesOf('pipeline_counts'),
      usage: pipelines * nodes * minutes * bytesOf('usage_counts'),
    },
  };
}
