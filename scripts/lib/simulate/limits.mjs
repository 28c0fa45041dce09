const DIVIDE = 'Each process has all pipelines: divide the customers between two installations.';
/** What an operator does about a process that has no more CPU or memory, by topology. */
const MORE_PROCESSES = {
  embedded:
    'Send more records per request; then set DATABASE_URL, and run several processes with ENGINE=shared or as workers.',
  postgres: 'Send more records per request; then run several processes with ENGINE=shared or as workers.',
  nats: 'Send more records per request; then run several processes with ENGINE=shared or as workers.',
  shared: DIVIDE,
  'shared-nats': DIVIDE,
};

/**
 * Returns the limits of a topology with what a load uses of them. `hard`: beyond it, records wait or
 * are rejected; otherwise only `beyond` happens.
 */
export function limitsOf(topology, load, usage, { limits, env, plan, slopes }) {
  const hasNats = topology.endsWith('nats');
  const isShared = topology.startsWith('shared');
  const inFolder = topology === 'embedded' || topology === 'postgres';
  const organizations = Math.max(1, load.organizations);
  const call = env.RATE_LIMIT_ORGANIZATION;
  const all = [
    {
      id: 'process-cpu',
      name: 'CPU of the busiest process',
      used: usage.busiest,
      limit: plan.utilization,
      unit: 'cores',
      hard: true,
      beyond: 'One thread runs JavaScript: deliveries fall behind, and requests wait.',
      action: MORE_PROCESSES[topology],
    },
    {
      id: 'database-cpu',
      name: 'CPU of PostgreSQL',
      used: usage.cores.database,
      limit: plan.databaseCores * plan.utilization,
      unit: 'cores',
      hard: true,
      beyond: 'Statements take longer; positions, counts and usage are stored later.',
      action:
        topology === 'shared'
          ? 'Set NATS_URL, which keeps the buffers out of PostgreSQL; or a server with more cores.'
          : 'A server with more cores.',
    },
    hasNats && {
      id: 'nats-cpu',
      name: 'CPU of NATS',
      used: usage.cores.nats,
      limit: plan.natsCores * plan.utilization,
      unit: 'cores',
      hard: true,
      beyond: 'Senders wait for their acknowledgment.',
      action: 'More cores, or a cluster of three servers and more NATS_STREAMS, whose leaders share the work.',
    },
    {
      id: 'connections',
      name: 'Connections to PostgreSQL',
      used: usage.connections,
      limit: connectionsAtMost(topology, { limits, plan }),
      unit: 'connections',
      hard: true,
      beyond: 'Statements of the process that starts last fail.',
      action:
        'Raise max_connections of PostgreSQL. A pooler must be in session mode: the service listens for notifications.',
    },
    {
      id: 'heap',
      name: 'Memory of JavaScript in one process',
      used: usage.heap,
      limit: slopes['node.heap-limit'].value * plan.utilization,
      unit: 'bytes',
      hard: true,
      beyond: 'Garbage collection takes ever more CPU, until the process ends.',
      action: 'NODE_OPTIONS=--max-old-space-size with more MiB, and as much memory.',
    },
    inFolder && {
      id: 'syncs',
      name: 'Writes forced to the disk of DATA_DIR',
      used: usage.rates.requests,
      limit: slopes['disk.syncs'].value * plan.utilization,
      unit: 'a second',
      hard: true,
      beyond: 'Requests to different pipelines wait for each other.',
      action: 'Send more records per request; a disk that syncs faster; UV_THREADPOOL_SIZE for more writes at a time.',
    },
    {
      id: 'output-buffer',
      name: `Records of one pipeline in ${plan.outageHours} h without its output`,
      used: usage.waiting.perStream,
      limit: env.OUTPUT_BUFFER_BYTES,
      unit: 'bytes',
      hard: true,
      beyond: 'Senders are asked to retry, or records are dropped, by the overflow policy of the output.',
      action: 'Raise OUTPUT_BUFFER_BYTES, or choose the overflow policy spill, which has OUTPUT_SPILL_BYTES.',
    },
    {
      id: 'buffer-disk',
      name: `Records of all pipelines in ${plan.outageHours} h without outputs`,
      used: usage.waiting.all,
      limit: plan.bufferBytes,
      unit: 'bytes',
      hard: true,
      beyond: `New records get 503${inFolder ? ' once MIN_FREE_BYTES are left' : ''}.`,
      action: hasNats
        ? 'More storage for JetStream (max_file_store), a multiple of it with replicas.'
        : isShared
          ? 'A larger disk for PostgreSQL.'
          : 'A larger disk for DATA_DIR.',
    },
    {
      id: 'database-disk',
      name: 'Size of the database, once nothing gets older',
      used: usage.databaseBytes,
      limit: plan.databaseBytes,
      unit: 'bytes',
      hard: true,
      beyond: 'PostgreSQL stops when its disk is full.',
      action: 'Lower USAGE_DAYS or METRICS_DAYS, or a larger disk.',
    },
    call !== null && {
      id: 'calls',
      name: 'API requests of one organization',
      used: load.callsPerSecond / organizations,
      limit: call.points / call.seconds,
      unit: 'a second',
      hard: true,
      beyond: 'Further requests get 429. Records are not affected.',
      action: 'Raise RATE_LIMIT_ORGANIZATION.',
    },
    {
      id: 'ports',
      name: 'Connectors that listen on a port',
      used: load.listening,
      limit: env.SYSLOG_PORTS.last - env.SYSLOG_PORTS.first + 1,
      unit: 'ports',
      hard: true,
      beyond: 'Creating another one is 409 no_port.',
      action: 'Widen SYSLOG_PORTS.',
    },
    {
      id: 'known-connectors',
      name: 'Inputs that receive records',
      used: usage.rates.pushed,
      limit: limits.knownConnectors,
      unit: 'connectors',
      hard: false,
      beyond: 'Some are looked up in the database again, and get 503 while it is away.',
      action: 'Divide the customers between two installations.',
    },
    {
      id: 'labeled-pipelines',
      name: 'Pipelines with series in /metrics',
      used: load.pipelines,
      limit: env.METRICS_PIPELINES,
      unit: 'pipelines',
      hard: false,
      beyond: 'The others are only in the totals.',
      action:
        env.METRICS_PIPELINES < limits.labeledPipelines
          ? `Raise METRICS_PIPELINES, to at most ${limits.labeledPipelines.toLocaleString('en')}.`
          : 'Read the state of single pipelines from the API.',
    },
    !isShared && {
      id: 'log-entries',
      name: 'Pipelines that can keep full logs',
      used: load.pipelines,
      limit: limits.allLogEntries / limits.logEntries,
      unit: 'pipelines',
      hard: false,
      beyond: `If all have ${limits.logEntries} entries, the longest logs are shortened.`,
      action: 'Nothing, while few pipelines fail; otherwise collect the logs from their stream.',
    },
  ];
  return all.filter(Boolean);
}

/** Returns the connections that a database leaves to the service, which is a superuser of the embedded one only. */
export function connectionsAtMost(topology, { limits, plan }) {
  return topology === 'embedded' ? limits.embeddedConnections : plan.databaseConnections - plan.reservedConnections;
}
