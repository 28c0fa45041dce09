/** What each topology is started with. */
const NAMES = {
  embedded: 'neither DATABASE_URL nor NATS_URL: one process with its own PostgreSQL',
  postgres: 'DATABASE_URL: buffers in DATA_DIR of one engine',
  nats: 'DATABASE_URL and NATS_URL: buffers in NATS JetStream, one engine',
  shared: 'DATABASE_URL and ENGINE=shared: buffers in PostgreSQL, several engines',
  'shared-nats': 'DATABASE_URL, NATS_URL and ENGINE=shared: buffers in NATS JetStream, several engines',
};
const LEFT = 44;
const COLUMN = 12;
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
/** Limits that are shown for a topology. */
const SHOWN = 3;

export const count = (number) =>
  number.toLocaleString('en', { maximumFractionDigits: number !== 0 && number < 10 ? 2 : 0 });

export function bytes(number) {
  let [value, unit] = [number, 0];
  for (; value >= 1_024 && unit < UNITS.length - 1; unit += 1) value /= 1_024;
  return `${value.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false })} ${UNITS[unit]}`;
}

const shown = (value, unit) => (unit === 'bytes' ? bytes(value) : count(value));
const withUnit = (value, unit) => (unit === 'bytes' ? bytes(value) : `${count(value)} ${unit}`);

const ROWS = [
  ['Processes of the service', ({ processes }) => count(processes)],
  ['CPU of the service, cores', ({ cores }) => count(cores.service)],
  ['  of the busiest process', ({ busiest }) => count(busiest)],
  ['CPU of PostgreSQL, cores', ({ cores }) => count(cores.database)],
  ['CPU of NATS, cores', ({ cores }) => (cores.nats === undefined ? '' : count(cores.nats))],
  ['Memory of one process', ({ memory }) => bytes(memory.service)],
  ['Memory of PostgreSQL', ({ memory }) => bytes(memory.database)],
  ['Memory of NATS', ({ memory }) => (memory.nats === undefined ? '' : bytes(memory.nats))],
  ['Connections to PostgreSQL, at most', ({ connections }) => count(connections)],
  ['Leases in PostgreSQL', ({ leases }) => count(leases.database)],
  ['Streams of buffered records', ({ streams }) => count(streams)],
  ['JetStream streams', ({ jetStreamStreams }) => count(jetStreamStreams)],
  ['Rows in PostgreSQL, once nothing gets older', ({ allRows }) => count(allRows)],
  ['Size of PostgreSQL, once nothing gets older', ({ databaseBytes }) => bytes(databaseBytes)],
  ['Rows added a day: counts and usage', ({ rowsPerDay }) => count(rowsPerDay)],
  ['Bytes a day: buffers', ({ bytesPerDay }) => bytes(bytesPerDay.buffers)],
  ['  usage', ({ bytesPerDay }) => bytes(bytesPerDay.usage)],
  ['  counts', ({ bytesPerDay }) => bytes(bytesPerDay.counts)],
  ['Log entries kept, at most', ({ logEntries }) => count(logEntries)],
  ['Series in /metrics', ({ series }) => count(series)],
];

function describeLoad(load) {
  const { organizations, pipelines, polled, recordsPerSecond, recordBytes, recordsPerRequest } = load;
  const polling = polled === 0 ? '' : `, ${count(polled)} of them polled every ${count(load.pollSeconds)} s`;
  return `${count(organizations)} organizations, ${count(pipelines)} pipelines${polling}, ${count(recordsPerSecond)} records of ${count(recordBytes)} bytes a second, ${count(recordsPerRequest)} in a request`;
}

const cells = (first, rest) => `${first.padEnd(LEFT)}${rest.map((cell) => cell.padStart(COLUMN)).join('')}`.trimEnd();

/** Returns the text for a terminal. */
export function format(results) {
  const lines = [describeLoad(results[0].load), ''];
  lines.push(
    cells(
      '',
      results.map(({ topology }) => topology),
    ),
  );
  for (const [name, of] of ROWS) {
    const values = results.map(({ usage }) => of(usage));
    if (values.some((value) => value !== '')) lines.push(cells(name, values));
  }
  for (const result of results) lines.push('', ...limitLines(result));
  return `${lines.join('\n')}\n`;
}

function limitLines({ topology, load, exceeded, coming }) {
  const lines = [`${topology} (${NAMES[topology]})`];
  for (const limit of exceeded) {
    const { name, used, unit } = limit;
    lines.push(
      `  ${limit.hard ? 'exceeded' : 'note'}: ${name}: ${shown(used, unit)} of ${withUnit(limit.limit, unit)}`,
      `    ${limit.beyond}`,
      `    ${limit.action}`,
    );
  }
  for (const [index, limit] of coming
    .filter(({ hard }) => hard)
    .slice(0, SHOWN)
    .entries()) {
    const { name, used, unit, at } = limit;
    const where = `${count(Math.floor(load.pipelines * at))} pipelines and ${count(Math.floor(load.recordsPerSecond * at))} records a second`;
    lines.push(
      `  ${index === 0 ? 'next' : 'then'}, at ${where}: ${name}: now ${shown(used, unit)} of ${withUnit(limit.limit, unit)}`,
    );
    if (index === 0) lines.push(`    ${limit.beyond}`, `    ${limit.action}`);
  }
  return lines;
}
