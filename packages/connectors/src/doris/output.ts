import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  ConnectorError,
  EgressError,
  type Batch,
  type ConnectorContext,
  type Output,
} from '@connector-frame/engine/connector-api';
import { egressFailure, statusFailure, unexpected } from '../_shared/output/failures.js';
import { invalidConfig, send, type HttpResponse } from '../_shared/output/send.js';
import { writeParts, type PartResult } from '../_shared/output/split-batch.js';
import { readTls } from '../_shared/delivery/tls.js';
import { at, text, texts } from '../_shared/read.js';
import { askFrontend } from './redirect.js';

const PRODUCT = 'Doris';

/** Headers of a load that say how the records are sent. */
const FIXED = new Set(['label', 'format', 'read_json_by_line', 'strip_outer_array', 'authorization', 'expect', 'host']);

/** A table, and how to load into it. */
export interface DorisTarget {
  /** Addresses of the frontends. */
  frontends: readonly URL[];
  /** Hosts that a frontend may redirect to, besides its own. */
  hosts: ReadonlySet<string>;
  path: string;
  authorization: string | undefined;
  headers: Readonly<Record<string, string>>;
  labelPrefix: string;
  verifyTls: boolean;
  ca: string | undefined;
}

/** @throws ConnectorError `invalid_config` */
export function readDoris(config: ConnectorConfig): DorisTarget {
  const { settings, secrets } = config;
  const names = ['database', 'table'].map((key) => text(settings, key) ?? '');
  if (names.some((name) => name.includes('{{')))
    throw invalidConfig('The database and the table are names here, without fields of records.');
  const compression = text(settings, 'compression') ?? 'none';
  if (compression !== 'none') throw invalidConfig('Loads are sent without compression. Choose none.');
  const frontends = texts(settings, 'endpoints').map((address) => new URL(address));
  if (frontends.length === 0) throw invalidConfig('Enter the address of a frontend.');
  const backends = texts(settings, 'backends').map((host) => host.toLowerCase());
  const options = at(settings, 'headers');
  const headers = Object.entries(typeof options === 'object' && options !== null ? options : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !FIXED.has(entry[0].toLowerCase()),
  );
  const { verifyTls = true, ca } = readTls({ group: '/settings/tls' }, config);
  return {
    frontends,
    hosts: new Set([...frontends.map(({ hostname }) => hostname), ...backends]),
    path: `/api/${names.map(encodeURIComponent).join('/')}/_stream_load`,
    authorization: readAuthorization(settings, secrets),
    headers: Object.fromEntries(headers),
    labelPrefix: text(settings, 'label_prefix') ?? 'connector_frame',
    verifyTls,
    ca,
  };
}

function readAuthorization(settings: Record<string, unknown>, secrets: Record<string, unknown>): string | undefined {
  if (text(settings, 'auth', 'strategy') === 'bearer') return `Bearer ${text(secrets, 'token') ?? ''}`;
  const user = text(settings, 'auth', 'basic', 'user');
  if (user === undefined) return undefined;
  return `Basic ${Buffer.from(`${user}:${text(secrets, 'password') ?? ''}`).toString('base64')}`;
}

/**
 * Loads batches by Stream Load, each under a label that Doris accepts only once. A frontend redirects to
 * the backend that takes the load.
 * https://doris.apache.org/docs/data-operate/import/import-way/stream-load-manual
 */
export function createDorisOutput(config: ConnectorConfig, { egress, clock }: ConnectorContext): Output {
  const target = readDoris(config);
  let turn = 0;

  async function load(batch: Batch, signal: AbortSignal): Promise<PartResult> {
    const frontend = target.frontends[turn % target.frontends.length] ?? target.frontends[0];
    if (!frontend) return {};
    try {
      const headers = {
        ...target.headers,
        ...(target.authorization !== undefined && { authorization: target.authorization }),
        label: `${target.labelPrefix}_${batch.id}`,
        format: 'json',
        read_json_by_line: 'true',
      };
      const { verifyTls, ca } = target;
      const url = new URL(target.path, frontend);
      const answer = await askFrontend(egress, { url, headers, verifyTls, ca }, signal);
      const response = await send(
        egress,
        {
          url: backendUrl(target, url, answer.status, answer.location).href,
          method: 'PUT',
          headers: { ...headers, 'content-type': 'application/json' },
          body: `${batch.lines.join('\n')}\n`,
          redirect: 'manual',
          product: PRODUCT,
          verifyTls,
          ...(ca !== undefined && { ca }),
        },
        signal,
      );
      return outcomeOf(response, clock.now());
    } catch (error) {
      // Another frontend may work.
      turn += 1;
      throw error instanceof EgressError ? egressFailure(error.reason, PRODUCT) : error;
    }
  }

  return {
    batching: { records: 50_000, bytes: 10_000_000, waitMs: 1_000, waitFrom: 'write' },
    write: (batch, signal) => writeParts([batch.lines.map((_line, index) => index)], () => load(batch, signal)),
  };
}

/**
 * Returns where to send a load. The redirect decides which server receives the password: it may lead to
 * the frontend's own host or to one that the settings list, and never from HTTPS to HTTP.
 *
 * @throws ConnectorError
 */
export function backendUrl(
  { hosts }: Pick<DorisTarget, 'hosts'>,
  frontend: URL,
  status: number,
  location: string | undefined,
): URL {
  if (status === 401 || status === 403) throw statusFailure({ status, headers: new Headers() }, PRODUCT, 0);
  if (![307, 308, 302].includes(status) || location === undefined || !URL.canParse(location, frontend))
    throw unexpected(PRODUCT);
  const url = new URL(location, frontend);
  // Doris repeats the user and password of the request in the address.
  url.username = '';
  url.password = '';
  if (frontend.protocol === 'https:' && url.protocol !== 'https:')
    throw new ConnectorError('redirected', 'Doris redirects loads from HTTPS to HTTP.', 'permanent');
  if (!['http:', 'https:'].includes(url.protocol) || !hosts.has(url.hostname)) {
    const message = 'Doris redirects loads to a backend on another host. List the hosts of the backends.';
    throw new ConnectorError('redirected', message, 'permanent');
  }
  return url;
}

/** Converts the result of a load, which has the status 200 even if it failed. */
function outcomeOf(response: HttpResponse, now: number): PartResult {
  if (response.status !== 200) throw statusFailure(response, PRODUCT, now);
  const body = parse(response.text);
  const message = text(body, 'Message') ?? text(body, 'msg') ?? '';
  switch (text(body, 'Status') ?? text(body, 'status')) {
    case 'Success':
    // It is written, and becomes visible later.
    case 'Publish Timeout':
      return {};
    case 'Label Already Exists':
      if (text(body, 'ExistingJobStatus') === 'FINISHED') return {};
      throw new ConnectorError('conflict', 'Doris is still loading these records.', 'retry');
    case 'Fail':
    case 'FAILED':
      if (/too many filtered rows|DATA_QUALITY|parse json/i.test(message)) return { partRejection: 'invalid_value' };
      if (/denied|not authorized|Access/i.test(message))
        throw new ConnectorError('forbidden', 'Doris does not allow this user to load into the table.', 'permanent');
      if (/unknown (?:table|database)|not (?:found|exist)/i.test(message))
        throw new ConnectorError('not_found', 'The database or table does not exist in Doris.', 'permanent');
      throw new ConnectorError('upstream_error', 'Doris could not load the records at this time.', 'retry');
    default:
      throw unexpected(PRODUCT);
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
