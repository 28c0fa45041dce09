/**
 * Turns the results of a measurement into slopes: what one more of something costs, with its unit and
 * how it was measured.
 */

/** Tables whose number of rows depends on the time or on what waits. It is computed, not measured. */
const OVER_TIME = [
  'pipeline_counts',
  'usage_counts',
  'usage_days',
  'usage_writers',
  'rate_limits',
  'bus_batches',
  'bus_batch_ids',
  'engine_counts',
  'engine_logs',
  'engine_requests',
];

const CPU = 'ms of CPU';
const CPU_RATE = 'ms of CPU a second';
const BYTES = 'bytes';

const HOW = {
  loaded:
    'Proportional set sizes after the loads, with 250 pipelines; PostgreSQL with shared_buffers of 128 MB, the embedded one with 16 MB.',
  memory: 'Heap and buffers after a garbage collection, with 200 more pipelines or 100 more connectors.',
  idle: 'CPU time in 20 seconds without records, with 200 pipelines and without.',
  load: 'Four loads, and equations with four unknowns: 2,000 requests with one record of 600 bytes, 200 with 500 records of 600 and of 100 bytes to eight pipelines, and one record to each of 200 pipelines every 10 seconds for a minute. All deliver to dev-null. Without what the processes use anyway.',
  http: 'The same loads to outputs of type http instead of dev-null, with 50 pipelines.',
  call: '2,000 requests for the first 10 of 350 inputs, 8 at a time.',
  metrics: '20 requests for /metrics with 250 pipelines that have their own series.',
  rows: 'Rows in PostgreSQL after creating 100 teams, 100 inputs with a secret, and 200 pipelines, each with an input and an output.',
  rowBytes: 'Size of the table with its indexes, divided by its rows.',
  files: 'Files of the buffers in DATA_DIR after all pipelines have received records.',
  further:
    'Another process beside the first one, with 200 pipelines, while nothing happens. The loads reach the first one.',
  polling:
    'Polls of 500 pipelines to a server on loopback, with no or 100 new records, to dev-null (npm run bench -- polling).',
  cursor: '2,000 changes of 100 cursors, one after the other.',
  sync: 'Writes of 1 KiB to four files, each forced to the disk with fdatasync, by the four threads of Node.js.',
  server: 'Asked of a PostgreSQL that was started with its defaults.',
  heap: 'Asked of V8 in a process without options.',
};

/** Returns the slopes of one topology by their names. */
export function slopesOf(name, result) {
  const slopes = {};
  const add = (id, value, unit, how) => {
    // Less than nothing is within the error of the measurement.
    slopes[`${name}.${id}`] = { value: Math.max(0, value), unit, how };
  };
  const each = (id, costs, unit, how) => {
    for (const [role, cost] of Object.entries(costs)) add(`${id}.${role}`, cost, unit, how);
  };
  add(
    'base.heap',
    result.base.memory.heap,
    BYTES,
    'Heap and buffers of a service without pipelines, after a garbage collection.',
  );
  add('base.memory', result.base.memory.resident, BYTES, 'Proportional set size of the same process.');
  each('base.cpu', result.base.idle, CPU_RATE, 'CPU time in 20 seconds, without pipelines.');
  each('loaded.memory', result.loaded, BYTES, HOW.loaded);
  add('connector.heap', result.memory.connector, BYTES, HOW.memory);
  add('pipeline.heap', result.memory.pipelineHeap, BYTES, HOW.memory);
  each('pipeline.cpu', result.pipelineIdle, CPU_RATE, HOW.idle);
  for (const part of ['request', 'record', 'byte', 'report']) {
    for (const [role, costs] of Object.entries(result.cpu)) add(`${part}.cpu.${role}`, costs[part], CPU, HOW.load);
    for (const [role, costs] of Object.entries(result.written))
      add(`${part}.written.${role}`, costs[part], BYTES, `${HOW.load} Bytes that the kernel counts as written.`);
  }
  for (const part of ['request', 'record', 'byte']) add(`http-${part}.cpu.service`, result.http[part], CPU, HOW.http);
  each('call.cpu', result.api, CPU, HOW.call);
  add('scrape.cpu.service', result.metrics.cpu, CPU, HOW.metrics);
  add('pipeline.series', result.metrics.series, 'series', HOW.metrics);
  if (result.files > 0) add('pipeline.files', result.files, 'files', HOW.files);
  for (const [of, tables] of Object.entries(result.rows)) {
    for (const [table, rows] of Object.entries(tables))
      if (!OVER_TIME.includes(table)) add(`${of}.rows.${table}`, Math.round(rows), 'rows', HOW.rows);
  }
  if (result.further) each('further.cpu', result.further, CPU_RATE, HOW.further);
  return slopes;
}

/** Returns the slopes that do not depend on the topology. */
export function commonSlopes({ polling, cursor, syncs, heapLimit, bytesPerRow = {}, server }) {
  const slopes = {};
  const add = (id, value, unit, how) => (slopes[id] = { value, unit, how });
  if (polling) {
    const { idle, busy, records } = polling;
    add('poll.cpu.service', idle.cost, CPU, HOW.polling);
    add('polled-record.cpu.service', (busy.cost - idle.cost) / records, CPU, HOW.polling);
    add('polled-pipeline.heap', busy.memory, BYTES, HOW.polling);
  }
  if (cursor) for (const [role, cost] of Object.entries(cursor)) add(`cursor.cpu.${role}`, cost, CPU, HOW.cursor);
  if (syncs) add('disk.syncs', syncs, 'a second', HOW.sync);
  if (heapLimit) add('node.heap-limit', heapLimit, BYTES, HOW.heap);
  for (const [table, bytes] of Object.entries(bytesPerRow)) add(`row.bytes.${table}`, bytes, BYTES, HOW.rowBytes);
  if (server) {
    add('server.connections', server.maxConnections, 'connections', HOW.server);
    add('server.reserved-connections', server.reserved, 'connections', HOW.server);
  }
  return slopes;
}
