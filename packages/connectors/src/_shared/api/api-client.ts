import type { ConnectorConfig, PollSingleAuthentication } from '@connector-frame/catalog/types';
import type { Clock, Egress, EgressInit } from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected, type Subject } from '../connection-test/failures.js';
import type { Failure } from '../connection-test/outcome.js';
import { tokenRequester } from '../delivery/token-request.js';
import { retryAfter } from '../output/failures.js';
import { createAuthentication } from '../poll/authentication.js';
import type { Authentication } from '../poll/signing.js';
import { toConnectorError, toNetworkError, type ApiError } from './api-error.js';

export interface ApiRequest {
  /** Default `GET`. */
  method?: string;
  url: URL;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
}

export interface ApiOptions extends Pick<
  EgressInit,
  'timeoutMs' | 'maxBytes' | 'stream' | 'repeatable' | 'overflow' | 'redirect'
> {
  signal: AbortSignal;
}

export interface ApiClientOptions {
  subject: Subject;
  egress: Egress;
  clock: Clock;
  authentication: Authentication;
}

/** Maximum bytes of a JSON response. */
const MAX_JSON = 16 * 1024 * 1024;

/** Sends requests with the credentials of a configuration. */
export class ApiClient {
  readonly subject: Subject;
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.subject = options.subject;
    this.#options = options;
  }

  /**
   * Sends one request and resolves with any response. Signs in again if the token is refused: it may
   * be revoked before it expires.
   * @throws ConnectorError if there was no response, or signing in failed
   */
  async send(request: ApiRequest, options: ApiOptions): Promise<Response> {
    const first = await this.#once(request, options);
    if (!this.#options.authentication.renew(first)) return first;
    await first.body?.cancel();
    return this.#once(request, options);
  }

  /**
   * Sends a request with a JSON body, if there is one, and returns the parsed response.
   * @param explain returns what a response means, if its status does not say it
   * @throws ApiError for a response that is not successful, or not JSON
   */
  async json(
    { body, ...request }: Omit<ApiRequest, 'body'> & { body?: unknown },
    options: ApiOptions,
    explain: (status: number, body: unknown) => Failure | undefined = () => undefined,
  ): Promise<unknown> {
    const hasBody = body !== undefined;
    const response = await this.send(
      {
        ...request,
        ...(hasBody && { method: request.method ?? 'POST', body: JSON.stringify(body) }),
        headers: {
          accept: 'application/json',
          ...(hasBody && { 'content-type': 'application/json' }),
          ...request.headers,
        },
      },
      { maxBytes: MAX_JSON, ...options },
    );
    const content = await parsed(response);
    if (!response.ok) throw this.problem(response, explain(response.status, content));
    if (content === undefined) throw toConnectorError(unexpected(this.subject));
    return content;
  }

  /** Converts an unsuccessful response to an error. */
  problem({ status, headers }: Response, meaning?: Failure): ApiError {
    const afterMs = retryAfter(headers, this.#options.clock.now());
    if (status === 429 || (status === 503 && afterMs !== undefined))
      return toConnectorError(statusFailure(429, this.subject), afterMs);
    return toConnectorError(meaning ?? statusFailure(status, this.subject), afterMs);
  }

  async #once({ method = 'GET', url, headers, body }: ApiRequest, options: ApiOptions): Promise<Response> {
    const { egress, authentication } = this.#options;
    const outgoing = { method, url: new URL(url), headers: new Headers(headers), ...(body !== undefined && { body }) };
    try {
      await authentication.sign(outgoing, options.signal);
      return await egress.fetch(outgoing.url, { ...options, ...outgoing });
    } catch (error) {
      options.signal.throwIfAborted();
      throw toNetworkError(error, this.subject);
    }
  }
}

async function parsed(response: Response): Promise<unknown> {
  try {
    return (await response.json()) as unknown;
  } catch {
    return undefined;
  }
}

export type SignInOptions = Omit<ApiClientOptions, 'authentication'> & {
  /** URL that requests are built from. */
  base: URL;
};

/**
 * Returns a client that signs in as the data of types describe it.
 * @throws PollError `invalid_config`
 */
export const createApiClient = (
  method: PollSingleAuthentication,
  config: ConnectorConfig,
  { base, ...options }: SignInOptions,
): ApiClient =>
  new ApiClient({ ...options, authentication: createApiAuthentication(method, config, { base, ...options }) });

/** @throws PollError `invalid_config` */
export function createApiAuthentication(
  method: PollSingleAuthentication,
  config: ConnectorConfig,
  { subject, egress, clock, base }: SignInOptions,
): Authentication {
  return createAuthentication(method, {
    config,
    subject,
    base,
    egress,
    now: () => clock.now(),
    vendorNow: () => clock.now(),
    requester: tokenRequester(egress, subject, () => clock.now()),
    refused: () => {
      throw toConnectorError(statusFailure(401, subject));
    },
  });
}
