import { ConnectorError, type Clock, type Egress } from '@connector-frame/engine/connector-api';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { send, type HttpResponse } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';
import { SnowflakeBearer } from './bearer.js';
import type { SnowflakeTarget } from './config.js';

const PRODUCT = 'Snowflake';
const TOKEN_MS = 30 * 60_000;

/** A pipe, as the API names it. */
export interface Pipe {
  database: string;
  schema: string;
  pipe: string;
}

/** An open channel. */
export interface Channel {
  /** Token that the next rows continue from. */
  next: string;
  /** Offset of the last rows that are written; absent: none. */
  committed: string | undefined;
}

/**
 * Writes rows to a pipe.
 * https://docs.snowflake.com/en/user-guide/snowpipe-streaming/snowpipe-streaming-high-performance-rest-api
 */
export class StreamingClient {
  readonly #target: SnowflakeTarget;
  readonly #egress: Egress;
  readonly #clock: Clock;
  readonly #bearer: SnowflakeBearer;
  #access: { host: string; token: string; until: number } | undefined;

  constructor(target: SnowflakeTarget, egress: Egress, clock: Clock) {
    this.#target = target;
    this.#egress = egress;
    this.#clock = clock;
    this.#bearer = new SnowflakeBearer(target.signIn, clock);
  }

  /** Opens a channel, or continues one: tokens that were handed out before become invalid. */
  async open(pipe: Pipe, name: string, signal: AbortSignal): Promise<Channel> {
    const body = await this.#json('PUT', channelPath('', pipe, name), '{}', 'application/json', signal);
    const status = at(body, 'channel_status');
    return {
      next: text(body, 'next_continuation_token') ?? '',
      committed: text(status, 'last_committed_offset_token') ?? text(status, 'committed_offset_token'),
    };
  }

  /** Sends rows, and returns the token that the next ones continue from. */
  async append(
    pipe: Pipe,
    name: string,
    { next }: Channel,
    offset: string,
    lines: string,
    signal: AbortSignal,
  ): Promise<string> {
    const query = new URLSearchParams({ continuationToken: next, offsetToken: offset });
    const path = `${channelPath('/data', pipe, name)}/rows?${query.toString()}`;
    const body = await this.#json('POST', path, lines, 'application/x-ndjson', signal);
    return text(body, 'next_continuation_token') ?? '';
  }

  /** Returns the offset of the last rows that are written. */
  async committed(pipe: Pipe, name: string, signal: AbortSignal): Promise<string | undefined> {
    const path = `${pipePath('', pipe)}:bulk-channel-status`;
    const body = await this.#json('POST', path, JSON.stringify({ channel_names: [name] }), 'application/json', signal);
    const status = at(body, 'channel_statuses', name);
    return text(status, 'committed_offset_token') ?? text(status, 'last_committed_offset_token');
  }

  async #json(method: string, path: string, body: string, contentType: string, signal: AbortSignal): Promise<unknown> {
    const { host, token } = await this.#signIn(signal);
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'content-type': contentType,
      'user-agent': 'connector-frame/1.0',
    };
    const url = `https://${host}${path}`;
    const response = await send(this.#egress, { url, method, headers, body, product: PRODUCT }, signal);
    if (response.status !== 200) {
      // A token may be revoked before it expires.
      if (response.status === 401) this.#access = undefined;
      if (response.status === 400 && /"STALE_\w+"/.test(response.text)) {
        const message = 'The channel was opened elsewhere. Each pipeline needs its own channel prefix.';
        throw new ConnectorError('conflict', message, 'retry');
      }
      throw statusFailure(response, PRODUCT, this.#clock.now());
    }
    try {
      return JSON.parse(response.text) as unknown;
    } catch {
      throw unexpected(PRODUCT);
    }
  }

  /** Exchanges the JWT for a token that is valid only at the host for rows. */
  async #signIn(signal: AbortSignal): Promise<{ host: string; token: string }> {
    const now = this.#clock.now();
    if (this.#access && this.#access.until > now) return this.#access;
    const { origin } = this.#target;
    const headers = await this.#bearer.headers();
    const options = { url: `${origin}/v2/streaming/hostname`, method: 'GET', headers, product: PRODUCT };
    const host = valueOf(await this.#ok(options, signal), 'hostname').replaceAll('_', '-');
    // The token goes to this host: it must be one of Snowflake's.
    if (!/^(?:[a-z\d-]+\.)+snowflakecomputing\.(?:com|cn)$/i.test(host)) throw unexpected(PRODUCT);
    const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', scope: host });
    const exchange = {
      url: `${origin}/oauth/token`,
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      product: PRODUCT,
    };
    const token = valueOf(await this.#ok(exchange, signal), 'token');
    if (!/^[\w.~+/=-]+$/.test(token)) throw unexpected(PRODUCT);
    this.#access = { host, token, until: now + TOKEN_MS };
    return this.#access;
  }

  async #ok(options: Parameters<typeof send>[1], signal: AbortSignal): Promise<HttpResponse> {
    const response = await send(this.#egress, options, signal);
    if (response.status === 200) return response;
    if (response.status === 400)
      throw new ConnectorError('invalid_credentials', 'Snowflake did not accept the key.', 'permanent');
    throw statusFailure(response, PRODUCT, this.#clock.now());
  }
}

/** Reads a property of a JSON response, or all of a response that is text. */
function valueOf({ text: body }: HttpResponse, key: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'string' ? parsed.trim() : (text(parsed, key) ?? '');
  } catch {
    return body.trim();
  }
}

function pipePath(kind: '' | '/data', { database, schema, pipe }: Pipe): string {
  const [d, s, p] = [database, schema, pipe].map(encodeURIComponent);
  return `/v2/streaming${kind}/databases/${d}/schemas/${s}/pipes/${p}`;
}

const channelPath = (kind: '' | '/data', pipe: Pipe, name: string): string =>
  `${pipePath(kind, pipe)}/channels/${encodeURIComponent(name)}`;
