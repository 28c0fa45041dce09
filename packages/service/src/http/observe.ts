import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { Principal } from '../auth/principal.js';
import { describeError } from '../describe-error.js';
import type { Metrics } from '../metrics.js';
import { ApiError } from './api-error.js';

/** Follows one request from its arrival to its answer. */
export interface ObservedRequest {
  /** Sent back as `Request-Id`, and on each of its log lines. */
  id: string;
  identify(principal: Principal): void;
  /** Something broke: logged here, told to nobody. */
  failed(error: unknown): ApiError;
  /** Counts and logs the answer, and hands it on. @param refusal what the answer says, if it is one */
  done(response: Response, refusal?: ApiError): Response;
}

export type Observer = (c: Context, path: string) => ObservedRequest;

/** Logs hold route patterns and ids, never an address as it came, a header or a body: nothing a person typed gets here. */
export function createObserver(log: Logger, metrics: Metrics): Observer {
  return (c, path) => {
    const id = randomUUID();
    const began = performance.now();
    const method = c.req.method;
    let who: Record<string, string> = {};
    return {
      id,
      identify(principal) {
        who =
          principal.type === 'key'
            ? { key_id: principal.key.id, organization_id: principal.key.organizationId }
            : { session_id: principal.session.id, organization_id: principal.session.organizationId };
      },
      failed(error) {
        log.error({ request_id: id, method, route: path, ...who, problem: describeError(error) }, 'request failed');
        return new ApiError(500, 'internal_error', 'Something went wrong on our side.', {
          details: { request_id: id },
        });
      },
      done(response, refusal) {
        const milliseconds = performance.now() - began;
        metrics.observe(method, path, response.status, milliseconds / 1_000);
        log[levelOf(method, response, refusal)](
          {
            request_id: id,
            method,
            route: path,
            status: response.status,
            ...(refusal && { error_type: refusal.type }),
            ms: Math.round(milliseconds * 10) / 10,
            ...who,
          },
          'request',
        );
        return response;
      },
    };
  };
}

function levelOf(method: string, { status }: Response, refusal: ApiError | undefined): 'debug' | 'info' | 'warn' {
  // Only a change of the database that did not come through the API leads to these.
  if (refusal?.type === 'secret_destination_mismatch' || refusal?.type === 'secret_unreadable') return 'warn';
  // Reads that went well are many and say little.
  return status < 400 && (method === 'GET' || method === 'HEAD') ? 'debug' : 'info';
}
