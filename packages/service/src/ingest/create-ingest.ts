import type { IncomingMessage, ServerResponse } from 'node:http';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { RequestError, type Receiver, type RequestHead } from '@connector-frame/engine/connector-api';
import type { Logger } from 'pino';
import { newApiHeaders } from '../http/respond.js';
import type { Metrics } from '../metrics.js';
import type { PipelineEngine } from '../pipelines/engine.js';
import { createBodyQuota } from './body-quota.js';
import { createFindConnector, type FindConnector, type FindOptions } from './find-connector.js';
import { createFindReceiver, type ConfiguredOptions, type FindReceiver } from './configured-receivers.js';
import { createReceiveBody, SenderDisconnected, type ReceiveBody } from './receive-body.js';
import { HttpError, later } from './http-error.js';
import { rejectionOf, responseOf, toHttpError, type IngestResponse, type RequestInfo } from './error-responses.js';
import { createRejectionCounter, type RejectionCounter } from './rejection-counter.js';

export interface IngestOptions extends Omit<FindOptions, 'store'>, ConfiguredOptions {
  engine: Pick<PipelineEngine, 'append'>;
  log: Logger;
  metrics: Metrics;
}

/** Handles a request below `/ingest/`. Returns false for any other request. */
export type Ingest = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Bytes of bodies in progress, for all and for one organization. A body briefly takes up to four
 * times as much memory.
 */
const TOTAL_BYTES = 128 * 1024 * 1024;
const ORGANIZATION_BYTES = 64 * 1024 * 1024;

interface Tools extends IngestOptions {
  /**
   * Receivers by their path, except `''`. A request to `/v1/logs` gets every response as OTLP
   * requires, also if its connector can't be determined.
   */
  receivers: ReadonlyMap<string, Receiver>;
  find: FindConnector;
  findReceiver: FindReceiver;
  receive: ReceiveBody;
  rejections: RejectionCounter;
}

/**
 * Creates the handler of the addresses that records are sent to. It runs before the API routes, on
 * Node's own request and response: it uses no session and no page, rarely queries the database, and
 * passes each record on as the text in which it arrived.
 */
export function createIngest(options: IngestOptions): Ingest {
  const tools: Tools = {
    ...options,
    receivers: receiversByPath(options),
    find: createFindConnector(options),
    findReceiver: createFindReceiver(options),
    receive: createReceiveBody(createBodyQuota(TOTAL_BYTES, ORGANIZATION_BYTES)),
    rejections: createRejectionCounter(options.log),
  };
  return (request, response) => {
    if (request.url?.startsWith('/ingest/') !== true) return false;
    void traced(tools, request, response);
    return true;
  };
}

/** Handles a request in a span that continues the trace of its sender. */
function traced(tools: Tools, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const sender = propagation.extract(context.active(), request.headers);
  return trace
    .getTracer('connector-frame')
    .startActiveSpan('POST /ingest', { kind: SpanKind.SERVER }, sender, async (span) => {
      const known: RequestInfo = { route: '/ingest' };
      await handle(tools, request, response, known);
      span.updateName(`POST ${known.route}`);
      span.setAttributes({
        'http.request.method': 'POST',
        'http.route': known.route,
        'http.response.status_code': response.statusCode,
        ...(known.connectorId !== undefined && { 'connector_frame.connector.id': known.connectorId }),
      });
      if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
}

async function handle(
  tools: Tools,
  request: IncomingMessage,
  response: ServerResponse,
  known: RequestInfo,
): Promise<void> {
  const startedAt = performance.now();
  const [, address = '', path = '', search = ''] =
    /^\/ingest\/([^/?]*)([^?]*?)\/?(?:\?(.*))?$/.exec(request.url ?? '') ?? [];
  known.receiver = tools.receivers.get(path);
  let result: IngestResponse;
  try {
    if (address.includes('.')) {
      const { method = '', headers } = request;
      const head = { method, path, query: new URLSearchParams(search), headers };
      result = await receiveConfigured(tools, request, address, head, known);
    } else result = await storeRecords(tools, request, known);
  } catch (error) {
    // The sender has disconnected, so there is no response. Records stored by then are kept.
    if (error instanceof SenderDisconnected) return;
    result = responseOf(toHttpError(tools.log, error, known), known, request.headers['content-type']);
  }
  const { status, contentType, body, headers } = result;
  const length = Buffer.byteLength(body);
  response.writeHead(status, { ...newApiHeaders(), 'Content-Type': contentType, 'Content-Length': length, ...headers });
  response.end(body);
  tools.metrics.observe('POST', known.route, status, (performance.now() - startedAt) / 1_000);
  if (status >= 400 && known.connectorId !== undefined) tools.rejections.add(known.connectorId, status);
}

/**
 * Reads the body of a request and appends its records.
 * @throws HttpError and other errors when not all of the records were stored
 */
async function storeRecords(tools: Tools, request: IncomingMessage, known: RequestInfo): Promise<IngestResponse> {
  const { connectorId, organizationId, receiver, path } = await tools.find(request);
  known.connectorId = connectorId;
  if (receiver?.path !== path) throw wrongPath(connectorId, receiver);
  known.route = `/ingest/{connector_id}${path}`;
  known.receiver = receiver;
  const position = positionOf(request);
  const { bytes, done } = await tools.receive(request, organizationId, receiver.maxBytes);
  try {
    const contentType = request.headers['content-type'];
    const lines = await receiver.read(bytes, contentType);
    // An empty body also requires a pipeline, so that a test request reports a missing one.
    const appended = await tools.engine.append(connectorId, lines, position);
    if (!appended.stored) throw rejectionOf(appended);
    return { status: 200, headers: {}, ...receiver.accepted(lines.length, appended.tooLarge, contentType) };
  } finally {
    done();
  }
}

/**
 * Handles a request to a connector whose configuration decides who may send.
 * @throws HttpError and other errors when not all of the records were stored
 */
async function receiveConfigured(
  tools: Tools,
  request: IncomingMessage,
  address: string,
  head: RequestHead,
  known: RequestInfo,
): Promise<IngestResponse> {
  const { connectorId, organizationId, receiver } = await tools.findReceiver(address);
  known.connectorId = connectorId;
  known.route = '/ingest/{address}';
  if (!receiver) throw notConfigured();
  known.configured = { receiver, head };
  const immediate = receiver.begin(head);
  if (immediate) return { headers: {}, ...immediate };
  if (head.method !== 'POST' && head.method !== 'PUT') throw new RequestError(405, 'Send records with POST.');
  const { bytes, done } = await tools.receive(request, organizationId, receiver.maxBytes);
  try {
    const { lines, position, response } = await receiver.read(bytes, head);
    if (response) return { headers: {}, ...response };
    const appended = await tools.engine.append(connectorId, lines, position === undefined ? {} : { position });
    if (!appended.stored) throw rejectionOf(appended);
    return { headers: {}, ...receiver.accepted(lines.length, appended.tooLarge, head) };
  } finally {
    done();
  }
}

/** The pipeline's status says why; senders retry. */
const notConfigured = (): HttpError =>
  later(503, 'unavailable', 'This connector is not able to receive records at the moment. Retry later.', 60);

function receiversByPath({ catalog, connectors }: IngestOptions): Map<string, Receiver> {
  const receivers = catalog.list('input').flatMap((type): Receiver[] => {
    const { receiver } = connectors(type);
    return receiver && receiver.path !== '' ? [receiver] : [];
  });
  return new Map(receivers.map((receiver) => [receiver.path, receiver]));
}

function wrongPath(connectorId: string, receiver: Receiver | undefined): HttpError {
  const place = receiver ? `/ingest/${connectorId}${receiver.path}` : 'another address';
  return new HttpError(404, 'not_found', `Not found. This connector accepts records at ${place}.`);
}

function positionOf(request: IncomingMessage): { position?: string } {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return {};
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return { position: `key:${key}` };
  throw new HttpError(400, 'invalid_request', 'An Idempotency-Key is 1 to 255 visible ASCII characters.');
}
