import {
  type AwsKeys,
  type AwsRoles,
  type Clock,
  ConnectorError,
  type Egress,
  type TesterConfig,
} from '@connector-frame/engine/connector-api';
import { statusFailure, type Subject } from '../_shared/connection-test/failures.js';
import type { Failure } from '../_shared/connection-test/outcome.js';
import { retryAfter } from '../_shared/output/failures.js';
import { toConnectorError, toNetworkError } from '../_shared/api/api-error.js';
import { failureOfResponse, S3_FIELDS } from './error-responses.js';
import type { AwsEndpoint } from '../_shared/aws/endpoint.js';
import type { AwsFields } from '../_shared/aws/failures.js';
import { KeySource } from '../_shared/aws/key-source.js';
import { request, type RequestOptions } from './bucket.js';
import { readBucketConfig, type BucketConfig } from './config.js';
import { element } from '../_shared/xml-elements.js';

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
  endpoint: AwsEndpoint;
  /** The service's own identity. Absent: it has none. */
  roles?: AwsRoles | undefined;
  /** Fields that failures are reported at. Default: those of S3. */
  fields?: AwsFields | undefined;
  /** Default: the keys that the configuration says. */
  keys?: KeySource;
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
  readonly #keys: KeySource;
  /** Signing keys by access key and day. */
  readonly #signing = new Map<string, ArrayBuffer>();
  readonly #options: ClientOptions;
  readonly subject: Subject;

  /** @throws ConnectorError `invalid_config`, permanent */
  constructor(options: ClientOptions) {
    this.#options = options;
    this.subject = options.subject;
    const { config, egress, clock, endpoint, roles } = options;
    const bucketConfig = readBucketConfig(config, endpoint);
    if ('ok' in bucketConfig) throw invalidConfig(bucketConfig);
    this.#config = bucketConfig;
    this.#keys =
      options.keys ??
      new KeySource(bucketConfig.signIn, {
        egress,
        now: () => clock.now(),
        signingNow: () => Date.now(),
        endpoint,
        roles,
        fields: options.fields ?? S3_FIELDS,
      });
    const problem = this.#keys.problem();
    if (problem) throw invalidConfig(problem);
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
    if (first instanceof Response || !EXPIRED.has(first.code ?? '') || !this.#keys.reject()) return first;
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
      const keys = await this.#sharedKeys(signal);
      if (this.#signing.size > 4) this.#signing.clear();
      const bucket = { url, region, verifyTls, keys, signing: this.#signing };
      const response = await request(bucket, egress, method, path, { ...options, ...(signal && { signal }) });
      if (good.includes(response.status)) return response;
      const body = await beginningOf(response);
      return { isError: true, response, body, code: element(body, 'Code') };
    } catch (error) {
      throw toNetworkError(error, subject);
    }
  }

  async #sharedKeys(signal: AbortSignal | undefined): Promise<AwsKeys> {
    const keys = await this.#keys.get();
    signal?.throwIfAborted();
    if ('ok' in keys) throw toConnectorError(keys);
    return keys;
  }
}

const invalidConfig = (failure: Failure): ConnectorError =>
  new ConnectorError('invalid_config', toConnectorError(failure).message, 'permanent');

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
