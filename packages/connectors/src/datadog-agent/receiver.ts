import {
  BodyError,
  isRecord,
  RequestError,
  type CreateReceiver,
  type DataRecord,
  type JsonValue,
  type RequestHead,
  type RequestResponse,
} from '@connector-frame/engine/connector-api';
import { parseExact } from '../_shared/exact-json.js';
import { headerOf } from '../_shared/receive/templates.js';
import { at } from '../_shared/read.js';
import { readRecords } from '../monad-http/read-records.js';

const MAX_BYTES = 16 * 1024 * 1024;
/** An Agent limits a request to 1,000 logs, and its metrics to 10,000 points. */
const MAX_RECORDS = 100_000;

const LOGS = ['', '/api/v2/logs', '/v1/input'];
const SERIES = '/api/v1/series';
/** Requests about the Agent itself: host metadata, service checks, events. They are acknowledged. */
const IGNORED =
  /^\/(?:intake|api\/v1\/(?:check_run|metadata|validate|collector|container|orchestrator)|api\/v2\/host_metadata)$/;

/**
 * Creates a receiver for the requests of Agents:
 * https://docs.datadoghq.com/api/latest/logs/#send-logs and
 * https://docs.datadoghq.com/api/latest/metrics/#submit-metrics (version 1)
 */
export const createAgentReceiver: CreateReceiver = (config, { isToken }) => {
  const isOn = (name: string): boolean => at(config, 'settings', name) === true;
  const takes = (head: RequestHead): 'logs' | 'series' | 'nothing' => {
    if (LOGS.includes(head.path)) return isOn('disable_logs') ? 'nothing' : 'logs';
    if (head.path === SERIES) return isOn('disable_metrics') ? 'nothing' : 'series';
    if (IGNORED.test(head.path)) return 'nothing';
    throw new RequestError(
      404,
      'Not found. Agents send logs and metrics here; version 2 of metrics and traces are not received.',
    );
  };
  return {
    maxBytes: MAX_BYTES,

    begin(head) {
      const key = headerOf(head, 'DD-API-KEY') || (head.query.get('api_key') ?? '');
      if (!isToken(key)) throw new RequestError(403, 'The API key is not the token of this connector.');
      if (head.path === '/api/v1/validate') return json(200, { valid: true });
      const what = takes(head);
      const encoding = headerOf(head, 'Content-Encoding');
      if (what !== 'nothing' && encoding === 'zstd')
        throw new RequestError(415, 'Set compression_kind to gzip in the Agent: zstd is not supported.');
      return what === 'nothing' ? json(202, { status: 'ok' }) : undefined;
    },

    async read(body, head) {
      const lines = await readRecords(body);
      if (takes(head) === 'series')
        return { lines: lines.flatMap((line) => points(line, isOn('split_metric_namespace'))) };
      // An Agent sends an empty object to check the connection.
      const logs = lines.filter((line) => line !== '{}');
      return { lines: isOn('parse_ddtags') ? logs.map(withTags) : logs };
    },

    accepted: () => json(202, {}),
    rejected: (status, message) => json(status === 409 ? 503 : status, { errors: [message] }),
  };
};

const json = (status: number, body: unknown): RequestResponse => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

/** Splits `ddtags`, which is one text with commas, into a list. */
function withTags(line: string): string {
  const log = parseExact(line);
  if (!isRecord(log) || typeof log['ddtags'] !== 'string') return line;
  const tags = log['ddtags'].split(',').map((tag) => tag.trim());
  return JSON.stringify({ ...log, ddtags: tags.filter((tag) => tag !== '') });
}

/** Returns one record for each point of each metric. */
function points(line: string, splitsNamespace: boolean): string[] {
  const sent = parseExact(line);
  const series = isRecord(sent) ? sent['series'] : undefined;
  if (!Array.isArray(series)) throw new BodyError(400, 'The body has no "series".');
  const records: string[] = [];
  for (const each of series as readonly JsonValue[]) {
    if (!isRecord(each)) throw new BodyError(400, 'A metric of this request is no object.');
    const { points: pairs, metric, ...fields } = each;
    for (const pair of Array.isArray(pairs) ? (pairs as readonly JsonValue[]) : []) {
      if (!Array.isArray(pair)) throw new BodyError(400, 'A point of this request is no pair of time and value.');
      const [timestamp, value] = pair as readonly JsonValue[];
      records.push(JSON.stringify({ ...named(metric, splitsNamespace), ...fields, timestamp, value }));
    }
    if (records.length > MAX_RECORDS) throw new BodyError(413, 'This body has more than 100,000 points. Send fewer.');
  }
  return records;
}

function named(metric: JsonValue | undefined, splitsNamespace: boolean): DataRecord {
  const [, namespace, name] = (splitsNamespace && typeof metric === 'string' && /^([^.]+)\.(.+)$/.exec(metric)) || [];
  return namespace === undefined || name === undefined ? { metric } : { metric: name, namespace };
}
