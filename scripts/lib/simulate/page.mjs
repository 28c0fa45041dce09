import { fileURLToPath } from 'node:url';
import { formatted } from '../format.mjs';
import { bytes } from './format.mjs';
import { readSlopes, run } from './run.mjs';
import { TOPOLOGIES } from './simulate.mjs';

/** Path of the page. */
export const page = fileURLToPath(new URL('../../../docs/guides/sizing.md', import.meta.url));

const ROLES = ['service', 'database', 'nats'];
const NAMES = {
  embedded: 'embedded',
  postgres: '`DATABASE_URL`',
  nats: '`NATS_URL`',
  shared: '`ENGINE=shared`',
  'shared-nats': 'both',
};

const significant = (value) => value.toLocaleString('en', { maximumSignificantDigits: 3 });
/** @param ms milliseconds of CPU */
const time = (ms) => (ms === 0 || ms >= 0.1 ? `${significant(ms)} ms` : `${significant(ms * 1_000)} µs`);

/** Rows of the table: what costs, and its value in a topology from the slopes of that topology. */
const ROWS = [
  ['A request with records', (of) => cpu(of, 'request')],
  ['A record', (of) => cpu(of, 'record')],
  ['A kibibyte of records', (of) => cpu(of, 'byte', 1_024)],
  ['A report of a pipeline with new records', (of) => cpu(of, 'report')],
  ['A request of an output `http`', (of) => time(of('http-request.cpu.service'))],
  ['A record in it', (of) => time(of('http-record.cpu.service'))],
  ['An API request for ten connectors', (of) => cpu(of, 'call')],
  ['A service without pipelines, a second', (of) => cpu(of, 'base')],
  ['A pipeline without records, a second', (of) => cpu(of, 'pipeline')],
  ['A pipeline: memory', (of) => bytes(of('pipeline.heap'))],
  ['A service without pipelines: memory', (of) => bytes(of('base.memory'))],
  [
    'A further process: CPU of PostgreSQL, a second',
    (of) => (of('further.cpu.database') === undefined ? '' : time(of('further.cpu.database'))),
  ],
];

/** Formats the CPU time of service, PostgreSQL and NATS. */
function cpu(of, part, times = 1) {
  return ROLES.map((role) => of(`${part}.cpu.${role}`))
    .filter((value) => value !== undefined)
    .map((value) => time(value * times))
    .join(' + ');
}

/** Returns the table of the slopes, as Markdown. */
function slopeTable({ slopes }) {
  const columns = TOPOLOGIES.filter((name) => `${name}.base.heap` in slopes);
  const ofTopology = (name) => (id) => slopes[`${name}.${id}`]?.value;
  const rows = ROWS.map(
    ([what, format]) => `| ${what} | ${columns.map((name) => format(ofTopology(name))).join(' | ')} |`,
  );
  const head = `| | ${columns.map((name) => NAMES[name]).join(' | ')} |\n| --- |${columns.map(() => ' --- |').join('')}`;
  const of = (id) => slopes[id].value;
  const common = [
    ['A poll without new records', time(of('poll.cpu.service'))],
    ['A polled record, delivered to `dev-null`', time(of('polled-record.cpu.service'))],
    ['Storing a cursor', `${time(of('cursor.cpu.service'))} + ${time(of('cursor.cpu.database'))}`],
    ['A polled pipeline: memory', bytes(of('polled-pipeline.heap'))],
    ['Writes forced to the disk, a second', significant(of('disk.syncs'))],
    ['A row of counts, of usage', `${of('row.bytes.pipeline_counts')} B, ${of('row.bytes.usage_counts')} B`],
  ].map(([what, value]) => `| ${what} | ${value} |`);
  return [head, ...rows, '', '| In every topology | |', '| --- | --- |', ...common].join('\n');
}

/** Describes the machine of the measurement. */
const describe = ({ cores, cpu: model, memory_gib: memory, platform, node }) =>
  `${cores} cores (${model}), ${memory} GiB of memory, ${platform}, Node.js ${node}.`;

/** Returns the page with the table of slopes and the outputs of its commands replaced. */
export async function sizingPage(text) {
  const measured = readSlopes();
  const replaced = text
    .replace(
      /(<!-- slopes -->)[^]*?(<!-- end of slopes -->)/,
      (_all, from, to) => `${from}\n\nMeasured on ${describe(measured.machine)}\n\n${slopeTable(measured)}\n\n${to}`,
    )
    .replaceAll(
      /(```sh\nnpm run simulate -- ([^`]*?)\n```\n\n```text\n)[^]*?(```)/g,
      (_all, from, words, to) => `${from}${run(words.split(/[\s\\]+/))}${to}`,
    );
  return formatted(page, replaced);
}
