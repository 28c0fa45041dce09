import {
  BodyError,
  RequestError,
  isRecord,
  type CreateReceiver,
  type RequestHead,
  type RequestResponse,
} from '@connector-frame/engine/connector-api';
import { basicOf } from '../_shared/receive/authentication.js';
import { isSameSecret } from '../_shared/receive/compare.js';
import { headerOf } from '../_shared/receive/templates.js';
import { text } from '../_shared/read.js';
import { readRecords } from '../monad-http/read-records.js';
import { hecRejection, hecResponse, type HecText } from './responses.js';

const MAX_BYTES = 32 * 1024 * 1024;
/** Lines of a raw body. */
const MAX_LINES = 100_000;
/** Query parameters of a raw request that describe all of its events. */
const METADATA = ['time', 'host', 'source', 'sourcetype', 'index'] as const;

type Endpoint = 'event' | 'raw' | 'ack' | 'health';

const rejection = (status: 400 | 401 | 403, reason: HecText): RequestError => new RequestError(status, reason);

/**
 * Creates a receiver for the HTTP Event Collector's endpoints:
 * https://docs.splunk.com/Documentation/Splunk/latest/RESTREF/RESTinput#services.2Fcollector
 */
export const createHecReceiver: CreateReceiver = (config, { clock }) => {
  const token = text(config, 'secrets', 'token') ?? '';
  // Unique across restarts: a sender may still ask for earlier ones.
  let nextAck = clock.now() * 1_000;
  return {
    maxBytes: MAX_BYTES,

    begin(head) {
      const endpoint = endpointOf(head);
      if (endpoint === 'health') return hecResponse('HEC is healthy');
      authorize(head, token);
      if (endpoint === 'ack' && channelOf(head) === '') throw rejection(400, 'Data channel is missing');
      return undefined;
    },

    async read(body, head) {
      const endpoint = endpointOf(head);
      if (endpoint === 'ack') return { lines: [], response: acknowledged(acksIn(body)) };
      const lines = endpoint === 'raw' ? rawLines(body, head) : await eventLines(body);
      if (lines.length === 0) throw rejection(400, 'No data');
      return { lines };
    },

    accepted(_count, _tooLarge, head) {
      if (channelOf(head) === '') return hecResponse('Success');
      nextAck += 1;
      return hecResponse('Success', { ackId: nextAck });
    },

    rejected: hecRejection,
  };
};

function endpointOf({ path }: RequestHead): Endpoint {
  const [, name = 'event'] = /^\/services\/collector(?:\/(event|raw|ack|health)(?:\/1\.0)?)?$/.exec(path) ?? [
    undefined,
    '',
  ];
  if (name === '') throw new RequestError(404, 'Not found. Send events to /services/collector below this address.');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the pattern allows nothing else
  return name as Endpoint;
}

function authorize(head: RequestHead, token: string): void {
  const authorization = headerOf(head, 'Authorization');
  if (authorization === '') {
    if (head.query.has('token')) throw rejection(400, 'Query string authorization is not enabled');
    throw rejection(401, 'Token is required');
  }
  const given = /^splunk +(\S+)$/i.exec(authorization)?.[1] ?? basicOf(authorization)?.password;
  if (given === undefined) throw rejection(401, 'Invalid authorization');
  if (!isSameSecret(given, token)) throw rejection(403, 'Invalid token');
}

const channelOf = (head: RequestHead): string =>
  headerOf(head, 'X-Splunk-Request-Channel') || (head.query.get('channel') ?? '');

/** Returns the events of a body with their metadata, as they were sent. */
async function eventLines(body: Buffer): Promise<readonly string[]> {
  let lines: readonly string[];
  try {
    lines = await readRecords(body);
  } catch (error) {
    throw error instanceof BodyError && error.status === 400 ? rejection(400, 'Invalid data format') : error;
  }
  for (const line of lines) {
    const sent: unknown = JSON.parse(line);
    if (!isRecord(sent) || !Object.hasOwn(sent, 'event') || sent['event'] === null)
      throw rejection(400, 'Event field is required');
    if (sent['event'] === '') throw rejection(400, 'Event field cannot be blank');
  }
  return lines;
}

/** Returns each line of a body as an event, with the metadata of the request. */
function rawLines(body: Buffer, { query }: RequestHead): string[] {
  const metadata = Object.fromEntries(
    METADATA.flatMap((name) => {
      const value = query.get(name);
      return value === null || value === '' ? [] : [[name, value] as const];
    }),
  );
  const lines = body
    .toString('utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '');
  if (lines.length > MAX_LINES) throw new BodyError(413, 'This body has more than 100,000 lines. Send fewer.');
  return lines.map((event) => JSON.stringify({ ...metadata, event }));
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value);

/** @throws RequestError */
function acksIn(body: Buffer): number[] {
  try {
    const sent: unknown = JSON.parse(body.toString('utf8'));
    const acks = isRecord(sent) ? sent['acks'] : undefined;
    if (Array.isArray(acks) && acks.length <= MAX_LINES && acks.every(isId)) return acks;
  } catch {
    // Reported below.
  }
  throw rejection(400, 'Invalid data format');
}

/**
 * Every id was handed out after its records were stored, so each is acknowledged, also after a
 * restart.
 */
const acknowledged = (acks: readonly number[]): RequestResponse => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify({ acks: Object.fromEntries(acks.map((id) => [String(id), true])) }),
});
