import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { idOf, organizationOf, type Principal } from '../auth/principal.js';
import { describeError } from '../describe-error.js';
import type { Metrics } from '../metrics.js';
import { isDatabaseUnavailable } from '../store/unavailable.js';
import { ApiError, databaseUnavailable } from '../api-error.js';

/** Tracks one request from its arrival to its response. */
export interface ObservedRequest {
  /** Sent as the `Request-Id` header, and part of each log line of the request. */
  id: string;
  identify(principal: Principal): void;
  /** Sets the organization that the request acts on. Default: that of the API key or the session. */
  actsOn(organizationId: string): void;
  /**
   * Logs an unexpected error. Returns a generic error that reveals nothing about it: 503 if the
   * database can't be reached, otherwise 500.
   */
  failed(error: unknown): ApiError;
  /**
   * Counts and logs the response, and returns it.
   * @param rejection the error that the response reports, if any
   */
  done(response: Response, rejection?: ApiError): Response;
}

export type Observer = (c: Context, path: string) => ObservedRequest;

/** A request of an authenticated caller that may have changed something. */
export interface ChangingRequest {
  id: string;
  /** The organization that it acts on. */
  organizationId: string;
  method: string;
  /** The route's pattern, never the requested URL. */
  route: string;
  status: number;
  principal: Principal;
}

const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS';

/**
 * Creates the observer of requests. Log lines contain route patterns and ids, never the requested
 * URL, a header or a body, so that nothing a person entered is logged.
 * @param changing called after each request that may have changed something
 */
export function createObserver(
  log: Logger,
  metrics: Metrics,
  changing: (request: ChangingRequest) => void = () => undefined,
): Observer {
  return (c, path) => {
    const id = randomUUID();
    const began = performance.now();
    const method = c.req.method;
    let who: Record<string, string> = {};
    let caller: Principal | undefined;
    let organizationId: string | undefined;
    return {
      id,
      actsOn(id) {
        organizationId = id;
        if (caller?.type === 'user') who = { ...who, organization_id: id };
      },
      identify(principal) {
        caller = principal;
        organizationId = organizationOf(principal);
        who = {
          [`${principal.type}_id`]: idOf(principal),
          ...(organizationId !== undefined && { organization_id: organizationId }),
        };
      },
      failed(error) {
        const line = { request_id: id, method, route: path, ...who, problem: describeError(error) };
        if (isDatabaseUnavailable(error)) {
          log.warn(line, 'database unavailable');
          return databaseUnavailable();
        }
        log.error(line, 'request failed');
        return new ApiError(500, 'internal_error', 'Internal error.', {
          details: { request_id: id },
        });
      },
      done(response, rejection) {
        const milliseconds = performance.now() - began;
        metrics.observe(method, path, response.status, milliseconds / 1_000);
        log[levelOf(method, response, rejection)](
          {
            request_id: id,
            method,
            route: path,
            status: response.status,
            ...(rejection && { error_type: rejection.type }),
            ms: Math.round(milliseconds * 10) / 10,
            ...who,
          },
          'request',
        );
        if (caller && organizationId !== undefined && !isReading(method))
          changing({ id, organizationId, method, route: path, status: response.status, principal: caller });
        return response;
      },
    };
  };
}

function levelOf(method: string, { status }: Response, rejection: ApiError | undefined): 'debug' | 'info' | 'warn' {
  // These errors occur only if the database was changed outside the API.
  if (rejection?.type === 'secret_destination_mismatch' || rejection?.type === 'secret_unreadable') return 'warn';
  // Successful reads are frequent and carry little information.
  return status < 400 && (method === 'GET' || method === 'HEAD') ? 'debug' : 'info';
}
