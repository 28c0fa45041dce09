import { ConnectorError } from '@connector-frame/engine/connector-api';
import { capital, throttled } from '../output/failures.js';

/** `INVALID_ARGUMENT`, `FAILED_PRECONDITION`, `OUT_OF_RANGE`: the message itself is at fault. */
export const REFUSED: ReadonlySet<number> = new Set([3, 9, 11]);

const UNKNOWN = 2;
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const UNIMPLEMENTED = 12;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/** https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md */
const BY_HTTP: Readonly<Record<number, number>> = {
  400: 13,
  401: UNAUTHENTICATED,
  403: PERMISSION_DENIED,
  404: UNIMPLEMENTED,
  429: UNAVAILABLE,
  502: UNAVAILABLE,
  503: UNAVAILABLE,
  504: UNAVAILABLE,
};

/** Returns the status of a response without one; `undefined` if it is a success of something else. */
export const statusOfHttp = (http: number): number | undefined =>
  http >= 200 && http < 300 ? undefined : (BY_HTTP[http] ?? UNKNOWN);

/**
 * Converts a status to an error. The message of the server is not quoted.
 * https://github.com/grpc/grpc/blob/master/doc/statuscodes.md
 */
export function failureOf(status: number, product: string, afterMs?: number): ConnectorError {
  const name = capital(product);
  switch (status) {
    case UNAUTHENTICATED:
      return new ConnectorError('invalid_credentials', `${name} did not accept the credentials.`, 'permanent');
    case PERMISSION_DENIED:
      return new ConnectorError('forbidden', `${name} does not allow this with these credentials.`, 'permanent');
    case NOT_FOUND:
    case UNIMPLEMENTED:
      return new ConnectorError('not_found', `${name} does not offer this service at this address.`, 'permanent');
    case RESOURCE_EXHAUSTED:
      return throttled(product, afterMs);
    default:
      return new ConnectorError(
        'upstream_error',
        `${name} could not process the request at this time (gRPC status ${status}).`,
        'retry',
        afterMs,
      );
  }
}
