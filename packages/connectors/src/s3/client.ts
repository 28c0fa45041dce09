import { type Clock, ConnectorError, type Egress, type TesterConfig } from '@connector-frame/engine/connector-api';
import { statusFailure, type Subject } from '../_shared/connection-test/failures.js';
import { retryAfter } from '../_shared/output/failures.js';
import { endError, onTheWay } from './connector-errors.js';
import { refused } from './refusals.js';
import { credentialsFor, readPlace, request, type AwsEndpoint, type Place, type RequestOptions } from './storage.js';
import type { Credentials } from './assume-role.js';
import { element } from './xml.js';

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
export interface Refused {
  refused: true;
  response: Response;
  body: string;
  /** S3's error code. */
  code: string | undefined;
}

/** A client for one bucket. Renews the credentials of a role. */
export class BucketClient {
  readonly #place: Place;
  #taken: { credentials: Credentials; at: number } | undefined;
  /** Signing keys by credentials and day. */
  readonly #signing = new Map<string, ArrayBuffer>();

  /** @throws ConnectorError `invalid_config`, permanent */
  constructor(private readonly options: ClientOptions) {
    const place = readPlace(options.config, options.aws);
    if ('ok' in place) throw new ConnectorError('invalid_config', endError(place).message, 'permanent');
    this.#place = place;
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
  ): Promise<Response | Refused> {
    const first = await this.#once(method, path, good, options);
    if (first instanceof Response || !this.#place.role || !EXPIRED.has(first.code ?? '')) return first;
    this.#taken = undefined;
    return this.#once(method, path, good, options);
  }

  /**
   * Converts an unsuccessful response to an error for the user.
   * @param rights the permissions that the access key may lack
   */
  problem({ response, body }: Refused, rights: string): ConnectorError {
    const { status } = response;
    const { subject, clock } = this.options;
    const afterMs = retryAfter(response.headers, clock.now());
    if (status === 429 || (status === 503 && (afterMs !== undefined || element(body, 'Code') === 'SlowDown')))
      return endError(statusFailure(429, subject), afterMs);
    return endError(refused(response, body, subject, rights));
  }

  async #once(
    method: string,
    path: string,
    good: readonly number[],
    { signal, ...options }: RequestOptions,
  ): Promise<Response | Refused> {
    const { egress, subject } = this.options;
    try {
      const { url, region, verifyTls } = this.#place;
      const credentials = await this.#credentials(signal);
      if (this.#signing.size > 4) this.#signing.clear();
      const bucket = { url, region, verifyTls, credentials, signing: this.#signing };
      const response = await request(bucket, egress, method, path, { ...options, ...(signal && { signal }) });
      if (good.includes(response.status)) return response;
      const body = await beginningOf(response);
      return { refused: true, response, body, code: element(body, 'Code') };
    } catch (error) {
      throw onTheWay(error, subject);
    }
  }

  async #credentials(signal: AbortSignal | undefined): Promise<Credentials> {
    const { egress, clock, aws } = this.options;
    const now = clock.now();
    if (this.#taken && (!this.#place.role || now - this.#taken.at < RENEW_MS)) return this.#taken.credentials;
    const bound: Egress = {
      fetch: (url, init) => egress.fetch(url, { ...init, ...(signal && { signal }) }),
      connect: (target) => egress.connect(target),
    };
    const credentials = await credentialsFor(this.#place, bound, aws);
    if ('ok' in credentials) throw endError(credentials);
    this.#taken = { credentials, at: now };
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
