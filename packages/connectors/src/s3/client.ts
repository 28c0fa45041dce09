import { type Clock, ConnectorError, type Egress, type TesterConfig } from '@connector-frame/engine/connector-api';
import { statusFailure, type Subject } from '../_shared/connection-test/failures.js';
import { retryAfter } from '../_shared/output/failures.js';
import { toConnectorError, toNetworkError } from '../_shared/objects/connector-error.js';
import { failureOfResponse } from './error-responses.js';
import { credentialsFor, request, type RequestOptions } from './bucket.js';
import { readBucketConfig, type AwsEndpoint, type BucketConfig } from './config.js';
import type { Credentials } from './assume-role.js';
import { element } from '../_shared/xml-elements.js';

/** Milliseconds until role credentials are renewed. They are valid for 15 minutes. */
const RENEW_MS = 10 * 60_000;
/**
 * Error codes of expired credentials.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
const EXPIRED = new Set(['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired', 'InvalidToken']);

export interface ClientOptions {
  config: TesterConfig;
  egress: Egress;
  clock: Clock;
  subject: Subject;
  aws: AwsEndpoint;
}

/** An unsuccessful response, with the beginning of its body. */
export interface ErrorResponse {
  isError: true;
  response: Response;
  body: string;
  /** S3's error code. */
  code: string | undefined;
}

/** A client for one bucket. Renews the credentials of a role. */
export class BucketClient {
  readonly #config: BucketConfig;
  #cached: { credentials: Credentials; at: number } | undefined;
  /** Signing keys by credentials and day. */
  readonly #signing = new Map<string, ArrayBuffer>();
  readonly #options: ClientOptions;
  readonly subject: Subject;

  /** @throws ConnectorError `invalid_config`, permanent */
  constructor(options: ClientOptions) {
    this.#options = options;
    this.subject = options.subject;
    const bucketConfig = readBucketConfig(options.config, options.aws);
    if ('ok' in bucketConfig)
      throw new ConnectorError('invalid_config', toConnectorError(bucketConfig).message, 'permanent');
    this.#config = bucketConfig;
  }

  /**
   * Sends one request and resolves with any response. If the credentials of a role have expired,
   * renews them and retries once.
   * @param path begins with `/` or `?`
   * @param good statuses of success; the body of such a response is left unread
   * @throws ConnectorError if there was no response, or the role could not be assumed
   */
  async send(
    method: string,
    path: string,
    good: readonly number[],
    options: RequestOptions = {},
  ): Promise<Response | ErrorResponse> {
    const first = await this.#once(method, path, good, options);
    if (first instanceof Response || !this.#config.role || !EXPIRED.has(first.code ?? '')) return first;
    this.#cached = undefined;
    return this.#once(method, path, good, options);
  }

  /**
   * Converts an unsuccessful response to an error for the user.
   * @param rights the permissions that the access key may lack
   */
  problem({ response, body }: ErrorResponse, rights: string): ConnectorError {
    const { status } = response;
    const { subject } = this;
    const { clock } = this.#options;
    const afterMs = retryAfter(response.headers, clock.now());
    if (status === 429 || (status === 503 && (afterMs !== undefined || element(body, 'Code') === 'SlowDown')))
      return toConnectorError(statusFailure(429, subject), afterMs);
    return toConnectorError(failureOfResponse(response, body, subject, rights));
  }

  async #once(
    method: string,
    path: string,
    good: readonly number[],
    { signal, ...options }: RequestOptions,
  ): Promise<Response | ErrorResponse> {
    const { subject } = this;
    const { egress } = this.#options;
    try {
      const { url, region, verifyTls } = this.#config;
      const credentials = await this.#credentials(signal);
      if (this.#signing.size > 4) this.#signing.clear();
      const bucket = { url, region, verifyTls, credentials, signing: this.#signing };
      const response = await request(bucket, egress, method, path, { ...options, ...(signal && { signal }) });
      if (good.includes(response.status)) return response;
      const body = await beginningOf(response);
      return { isError: true, response, body, code: element(body, 'Code') };
    } catch (error) {
      throw toNetworkError(error, subject);
    }
  }

  async #credentials(signal: AbortSignal | undefined): Promise<Credentials> {
    const { egress, clock, aws } = this.#options;
    const now = clock.now();
    if (this.#cached && (!this.#config.role || now - this.#cached.at < RENEW_MS)) return this.#cached.credentials;
    const bound: Egress = {
      fetch: (url, init) => egress.fetch(url, { ...init, ...(signal && { signal }) }),
      connect: (target) => egress.connect(target),
    };
    const credentials = await credentialsFor(this.#config, bound, aws);
    if ('ok' in credentials) throw toConnectorError(credentials);
    this.#cached = { credentials, at: now };
    return credentials;
  }
}

/** Reads enough of an error body to find its code, then cancels the stream. */
async function beginningOf(response: Response): Promise<string> {
  if (!response.body) return '';
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > 16_384) break;
  }
  return text;
}
