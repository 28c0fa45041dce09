import { randomUUID } from 'node:crypto';
import { BusError } from '@connector-frame/engine';
import {
  BodyError,
  RequestError,
  type Receiver,
  type RequestHead,
  type RequestReceiver,
} from '@connector-frame/engine/connector-api';
import type { Logger } from 'pino';
import { describeError } from '../describe-error.js';
import { isDatabaseUnavailable } from '../store/unavailable.js';
import type { Ingested } from '../pipelines/engine.js';
import { databaseAway, later, HttpError } from './http-error.js';

/** Request details that are known when the response is sent. */
export interface RequestInfo {
  /** Route pattern, for logs and metrics. */
  route: string;
  /** Set once the token has been verified. */
  connectorId?: string;
  /** Receiver of the connector, or of the path until the connector is known. */
  receiver?: Receiver | undefined;
  /** Set for a connector whose configuration decides who may send. */
  configured?: { receiver: RequestReceiver; head: RequestHead };
}

/** Response to the sender. */
export interface IngestResponse {
  status: number;
  contentType: string;
  body: string | Uint8Array;
  headers: Readonly<Record<string, string>>;
}

/**
 * Seconds after which senders of a suspended organization should try again. A suspension can end at
 * any time, so this does not depend on when it ends by itself.
 */
const SUSPENDED_RETRY = 60;

type Rejected = Exclude<Ingested, { stored: true }>;

/** Returns the error for records that were not stored. */
export function rejectionOf(rejected: Rejected): HttpError {
  if (rejected.reason !== 'suspended') return notStored[rejected.reason]();
  const { code, message } = rejected.suspension;
  const type = code === 'quota' ? 'quota_exceeded' : 'suspended';
  return later(429, type, `${message} Retry the whole request later.`, SUSPENDED_RETRY);
}

const notStored = {
  full: () =>
    later(
      429,
      'buffer_full',
      'The buffer is full: outputs are slower than the input. Retry the whole request later.',
      5,
    ),
  no_space: () =>
    later(
      503,
      'unavailable',
      'The service has too little free disk space to store records. Retry the whole request later.',
      10,
    ),
  closed: () =>
    later(503, 'unavailable', 'The service is not accepting records right now. Retry the whole request later.', 2),
  unknown: databaseAway,
  no_pipeline: () =>
    new HttpError(
      409,
      'no_pipeline',
      'No pipeline uses this input. Build a pipeline with it, then send the records again.',
    ),
};

const types = {
  400: 'invalid_request',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  503: 'unavailable',
} as const;

/** Converts anything that was thrown into the error for the sender. Logs unexpected errors. */
export function toHttpError(log: Logger, error: unknown, { route, connectorId }: RequestInfo): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof BodyError)
    return new HttpError(error.status, types[error.status], error.message, { details: error.details });
  if (error instanceof RequestError) return new HttpError(error.status, types[error.status], error.message);
  if (error instanceof BusError && error.code !== 'storage') return notStored.closed();
  if (isDatabaseUnavailable(error)) return databaseAway();
  const id = randomUUID();
  log.error({ request_id: id, route, connector_id: connectorId, problem: describeError(error) }, 'request failed');
  if (error instanceof BusError)
    return later(503, 'unavailable', 'The records could not be written to disk. Retry the whole request later.', 10);
  return new HttpError(500, 'internal_error', 'Internal error.', { details: { request_id: id } });
}

/** Formats an error as the connector's type requires, or else like an API error. */
export function responseOf(
  error: HttpError,
  { receiver, configured }: Pick<RequestInfo, 'receiver' | 'configured'>,
  contentType: string | undefined,
): IngestResponse {
  const { status, type, message, options } = error;
  const { headers = {}, details } = options;
  const own = configured?.receiver.rejected?.(status, message, configured.head);
  if (own) return { ...own, headers: { ...headers, ...own.headers } };
  const custom = configured ? undefined : receiver?.rejected?.(message, contentType);
  if (custom) return { status, ...custom, headers };
  const body = { error: message, error_type: type, code: status, ...(details && { additional_details: details }) };
  return { status, contentType: 'application/json; charset=utf-8', body: JSON.stringify(body), headers };
}
