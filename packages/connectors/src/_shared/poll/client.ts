import type { ConnectorConfig, ConnectorTypeData, PollDefinition, PollRequest } from '@connector-frame/catalog/types';
import {
  type AwsRoles,
  type Clock,
  type Egress,
  type EgressInit,
  type FailureKind,
  type GrantedTokens,
  type JsonValue,
  type ReplaceableSecrets,
} from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected, unreachable, type Subject } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import { addressField, addressOf, readAddress } from './address.js';
import { selectedMethod, createAuthentication, secretsOf } from './authentication.js';
import { ACCEPTED, parsedBody, type BodyFormat } from './body-format.js';
import { isPassword, SignInGuard } from './authentication/sign-in-guard.js';
import { callOf, encodeBody, headersOf, type PollCall } from './call.js';
import { failureOf, interpret, type ResponseParts } from './response-rules.js';
import { isDownload, redirectTarget } from './download.js';
import { exchange, type ExchangeInit } from './exchange.js';
import { connectedAccount } from './connected-account.js';
import { namedValues } from './named-values.js';
import { rateLimit } from './rate-limit.js';
import { RateLimiter } from './rate-limiter.js';
import { PollError } from './poll-error.js';
import { quotaResetDelay, throttleDelay } from './rate-limit-headers.js';
import type { Authentication, Credentials, Grant, GrantResponse, Outgoing } from './signing.js';
import type { Values } from './template.js';
import { readZone } from './time-zone.js';
import { readTls } from './tls.js';
import { rejectUnsupported } from './unsupported.js';
import { VendorClock } from './vendor-clock.js';

export interface PollResponse {
  /** URL of the request. */
  url: URL;
  status: number;
  headers: Headers;
  format: NonNullable<BodyFormat['format']>;
  /** Parsed body; `null` if it is empty. */
  body: JsonValue;
}

export interface PollClientOptions {
  type: ConnectorTypeData;
  poll: PollDefinition;
  config: ConnectorConfig;
  egress: Egress;
  clock: Clock;
  secrets?: ReplaceableSecrets | undefined;
  /** Tokens of connected accounts. */
  tokens?: GrantedTokens | undefined;
  /** The service's own identity at AWS. */
  aws?: AwsRoles | undefined;
  /** Whether this is the test of a connection. */
  isTest?: boolean;
}

const HOUR = 3_600_000;
/**
 * An HTTP client for one vendor and configuration. Throws only `PollError`, whose message never
 * quotes a response, or the signal's reason.
 */
export class PollClient {
  readonly subject: Subject;
  /** Values for every template. */
  readonly values: Values;
  /** Zone of times without one. */
  readonly zone: string;
  readonly vendorClock: VendorClock;
  readonly #base: URL;
  readonly #headers: Headers;
  readonly #authentication: Authentication;
  /** Absent: refused credentials lock no account. */
  readonly #guard: SignInGuard | undefined;
  readonly #rateLimiter: RateLimiter;
  readonly #tls: Pick<EgressInit, 'verifyTls' | 'ca'>;
  readonly #options: PollClientOptions;

  /** @throws PollError `invalid_config` */
  constructor(options: PollClientOptions) {
    this.#options = options;
    const { type, poll, config, egress, clock } = options;
    this.vendorClock = new VendorClock(clock);
    rejectUnsupported(poll, config);
    const connected = connectedAccount(type, options.tokens);
    const method = connected ? undefined : selectedMethod(poll.authentication, config);
    const address = addressField(poll.base_url);
    const credential = connected ? type.oauth?.secret : method && secretsOf(method).at(-1);
    this.subject = {
      product: type.vendor,
      ...(address !== undefined && { address }),
      ...(credential !== undefined && { credential }),
    };
    const authenticate = connected ?? (method && ((given: Credentials) => createAuthentication(method, given)));
    if (!authenticate) throw new PollError(failed('invalid_config', 'Choose how to sign in.'), 'permanent');
    this.values = { settings: config.settings, named: namedValues(poll, config) };
    this.#base = readAddress(poll.base_url, this.values, this.subject);
    this.#headers = headersOf(poll.headers ?? {}, this.values);
    this.#tls = readTls(config);
    this.zone = readZone(poll.time_zone, config);
    this.#rateLimiter = new RateLimiter(rateLimit(poll.rate?.limit, config), clock, type.vendor);
    this.#authentication = authenticate({
      config,
      subject: this.subject,
      base: this.#base,
      now: () => clock.now(),
      vendorNow: () => this.vendorClock.now(),
      requester: this.#grant.bind(this),
      refused: () => this.#refused(),
      egress,
      roles: options.aws,
      secrets: options.secrets,
      isTest: options.isTest,
    });
    this.#guard = method && isPassword(method) ? new SignInGuard(type.type_id, config, this.subject) : undefined;
  }

  url(request: PollRequest, values: Values): URL {
    const { base_url: base } = request;
    return addressOf(
      base === undefined ? this.#base : readAddress(base, values, this.subject),
      request,
      values,
      this.subject,
    );
  }

  /** Returns the call of a request. @throws PollError `invalid_config` */
  request(request: PollRequest, values: Values): PollCall {
    return callOf(request, this.url(request, values), values);
  }

  /** Sends the request that verifies the configuration. */
  check(signal: AbortSignal): Promise<PollResponse> {
    const { poll, clock } = this.#options;
    const until = clock.now();
    return this.send(
      this.request(poll.check, { ...this.values, since: until - HOUR, until, now: until, zone: this.zone }),
      signal,
    );
  }

  /** Path of the base URL, without a slash at the end. */
  get basePath(): string {
    return this.#base.pathname.replace(/\/$/, '');
  }

  /**
   * Parses a link from the response to `from`; `undefined` unless it has the same origin, or that of the
   * host that the vendor named when signing in.
   */
  ownUrl(text: string, from: URL): URL | undefined {
    const url = URL.canParse(text, from) ? new URL(text, from) : undefined;
    // Vendors behind a proxy that ends TLS may not know their own scheme.
    if (url?.protocol === 'http:' && url.port === '') url.protocol = 'https:';
    const host = from.origin === this.#base.origin ? this.#authentication.host?.() : undefined;
    const isOwn = url?.origin === from.origin || (host && url?.origin === host.origin);
    return isOwn && url?.username === '' && url.password === '' ? url : undefined;
  }

  /** Allows another attempt to sign in although earlier ones were refused: a person asks for it. */
  retrySignIn(): void {
    this.#guard?.reset();
  }

  async send(call: PollCall, signal: AbortSignal): Promise<PollResponse> {
    await this.#rateLimiter.wait(signal);
    if (call.file) return this.#read(await this.#download(call.url, signal), call);
    this.#guard?.check(this.#options.clock.now());
    const first = await this.#send(call, signal);
    // A token may be revoked before it expires.
    const response = this.#authentication.renew(first) ? await this.#send(call, signal) : first;
    const result = await this.#read(await this.#followDownload(response, call, signal), call).catch(
      async (error: unknown) => {
        // An expired session, in the vendor's own words: see `responses`.
        const isRefused = error instanceof PollError && error.outcome.reason === 'invalid_credentials';
        if (!isRefused || response !== first || first.status === 401) throw error;
        if (!this.#authentication.renew({ status: 401, headers: first.headers })) throw error;
        return this.#read(await this.#followDownload(await this.#send(call, signal), call, signal), call);
      },
    );
    this.#guard?.reset();
    return result;
  }

  async #send(call: PollCall, signal: AbortSignal): Promise<Response> {
    const { method } = call;
    const content = encodeBody(call);
    const headers = new Headers({ accept: ACCEPTED[call.format.format ?? 'json'] });
    if (content) headers.set('content-type', content.type);
    for (const [name, value] of [...this.#headers, ...(call.headers ?? [])]) headers.set(name, value);
    const request: Outgoing = {
      method,
      url: new URL(call.url),
      headers,
      ...(content && { body: content.text }),
      ...(call.role !== undefined && { role: call.role }),
    };
    await this.#authentication.sign(request, signal);
    const { url, body } = request;
    // Polling only reads, whatever the method, or acknowledges stored records.
    return this.#exchange(url, {
      method,
      headers,
      signal,
      repeatable: true,
      ...(body !== undefined && { body }),
      ...(call.downloads && { redirect: 'manual' }),
    });
  }

  /** Follows a redirect to a file, if the definition allows it, without credentials. */
  async #followDownload(response: Response, { url, downloads }: PollCall, signal: AbortSignal): Promise<Response> {
    const target = downloads && redirectTarget(response, url);
    if (!target) return response;
    if (!isDownload(target, downloads)) throw new PollError(unreachable('redirected', this.subject), 'permanent');
    return this.#download(target, signal);
  }

  #download(url: URL, signal: AbortSignal): Promise<Response> {
    const isOwn = url.origin === this.#base.origin;
    const headers = new Headers({ accept: '*/*' });
    return this.#exchange(url, { headers, signal, ...(!isOwn && { verifyTls: true }) });
  }

  #exchange(url: URL, init: ExchangeInit): Promise<Response> {
    return exchange(this.#options.egress, url, { ...this.#tls, ...init }, this.subject);
  }

  async #read(response: Response, call: PollCall): Promise<PollResponse> {
    const { rate = {}, responses = [] } = this.#options.poll;
    const { url, graphql, format, continued } = call;
    const { status, headers } = response;
    this.vendorClock.observe(headers);
    const parts = { status, headers, body: await parsedBody(response, response.ok ? format : {}) };
    const found = interpret([...(call.responses ?? []), ...responses], parts, graphql === true);
    const result = { url, headers, format: format.format ?? 'json' };
    // Of a page token that has expired, it must not end the pages.
    if (found.means === 'empty' && !(continued && !response.ok)) return { ...result, status: 204, body: null };
    if (found.means === undefined || found.means === 'throttled')
      this.#rejectThrottled(parts, found.means === 'throttled');
    if (found.means === 'invalid_credentials' || (found.means === undefined && status === 401))
      this.#guard?.refused(this.#options.clock.now());
    if (found.means === undefined || found.means === 'empty') {
      if (!response.ok) throw new PollError(statusFailure(status, this.subject), kindOf(status), { status });
    } else if (found.means !== 'accepted') throw failureOf(found, status, this.subject);
    const body = parts.body === undefined && !response.ok ? null : parts.body;
    if (body === undefined) throw new PollError(unexpected(this.subject), 'retry', { status });
    const resetMs = quotaResetDelay(rate, headers, this.#options.clock.now());
    if (resetMs !== undefined) this.#rateLimiter.block(resetMs);
    return { ...result, status: response.ok ? status : 204, body };
  }

  /**
   * Parses the body of a response; `undefined` if it does not have the format.
   *
   * @throws PollError `rate_limited`
   */
  async #body(response: Response, format: BodyFormat = {}): Promise<JsonValue | undefined> {
    const { status, headers } = response;
    const body = await parsedBody(response, format);
    this.#rejectThrottled({ status, headers, body });
    return body;
  }

  /** @throws PollError `rate_limited` */
  #rejectThrottled(response: ResponseParts, isThrottled = false): void {
    const { poll, clock } = this.#options;
    const afterMs = throttleDelay(poll.rate ?? {}, response, clock.now(), isThrottled);
    if (afterMs === undefined) return;
    this.#rateLimiter.block(afterMs);
    throw this.#rateLimiter.throttled(afterMs, response.status);
  }

  async #grant({ method = 'POST', ...grant }: Grant, signal: AbortSignal): Promise<GrantResponse> {
    const response = await this.#exchange(grant.url, { ...grant, method, signal });
    const { status, headers } = response;
    this.vendorClock.observe(headers);
    const text = await response.clone().text();
    const body = await this.#body(response);
    const isRedirect = grant.redirect === 'manual' && status >= 300 && status <= 399;
    if (response.ok || isRedirect) return { headers, text, body, at: this.vendorClock.now() };
    if (kindOf(status) === 'permanent') throw this.#refused(status);
    throw new PollError(statusFailure(status, this.subject), kindOf(status), { status });
  }

  #refused(status = 401): PollError {
    this.#guard?.refused(this.#options.clock.now());
    // RFC 6749, 5.2: the status for an unknown client is 400 or 401.
    const reason = [400, 401, 403].includes(status) ? 401 : status;
    return new PollError(statusFailure(reason, this.subject), 'permanent', { status });
  }
}

const kindOf = (status: number): FailureKind =>
  status >= 500 || status === 408 || status < 400 ? 'retry' : 'permanent';
