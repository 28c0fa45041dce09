import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { ConnectorConfig } from '@connector-frame/catalog';
import type { Received, Reply } from './vendor.js';

/** Text that a value must equal, or a pattern that it must match. */
export type Expected = string | { pattern: string };

/** A request as the vendor documents it, and the documented response. */
export interface DocumentedExchange {
  request: {
    /** Default `GET`. */
    method?: string;
    /** Origin and path: `https://api.acme.example/v1/events`. */
    url: string;
    /** Every query parameter of the request. */
    query?: Readonly<Record<string, Expected>>;
    headers?: Readonly<Record<string, Expected>>;
    /** JSON body, or the parameters of a form. Without it, the request must have no body. */
    body?: unknown;
    /** Lines of a body with one JSON document per line, instead of `body`. */
    lines?: readonly unknown[];
    /** Text of a file that is sent compressed, instead of `body`. */
    gzip?: string;
  };
  response: {
    /** Default 200. */
    status?: number;
    headers?: Readonly<Record<string, string>>;
    /** A string is sent as it is, anything else as JSON. */
    body?: unknown;
  };
}

/**
 * Requests and responses that a vendor's documentation describes, for one connector type: the
 * content of `test/vendors/inputs/<type id>.json`. They come from the vendor's pages, never from the
 * type's data file, so that a mistake there cannot repeat itself here.
 */
export interface DocumentedInput {
  /** Pages or OpenAPI documents of the vendor that the exchanges were taken from. */
  sources: readonly string[];
  /** Time at which the input is read. Default `2026-03-10T12:00:00Z`. */
  now?: string;
  /** The secret `generate:pem` is a private key, `generate:service_account` a file with one. */
  config: ConnectorConfig;
  /** Each must be requested. A request that matches several gets the first that was not used yet. */
  exchanges: readonly DocumentedExchange[];
  /** Number of records delivered, each an object of a documented response; or the records. */
  records: number | readonly unknown[];
}

/**
 * The same for an output: the content of `test/vendors/outputs/<type id>.json`. The vendor must
 * receive exactly the documented requests when `records` are written.
 */
export interface DocumentedOutput {
  sources: readonly string[];
  /** Time at which the records are written. Default `2026-03-10T12:00:00Z`. */
  now?: string;
  config: ConnectorConfig;
  records: readonly object[];
  /** Each must be requested by writing the records. */
  exchanges: readonly DocumentedExchange[];
  /** Each must be requested by the connection test, which must then pass. */
  check: readonly DocumentedExchange[];
  /** Responses to `records` that report an error, in place of the documented ones. */
  errors: readonly {
    response: DocumentedExchange['response'];
    /** Error that the output throws. */
    code?: string;
    kind?: 'retry' | 'throttled' | 'permanent';
    /** Indexes of the records that are reported as permanently rejected. */
    rejected?: readonly number[];
    /** Indexes of the records to be retried. */
    retried?: readonly number[];
    /** Indexes of the records that were refused together. */
    refused?: readonly number[];
  }[];
}

/** By the working directory: this module is also bundled. */
const FOLDER = pathToFileURL(`${process.cwd()}/test/vendors/`);

/** Reads all files of `test/vendors/<kind>s`, by type id. */
export function readDocumented<T>(kind: 'input' | 'output'): [typeId: string, documented: T][] {
  const folder = new URL(`${kind}s/`, FOLDER);
  return readdirSync(folder)
    .toSorted()
    .map((file) => {
      const documented: unknown = JSON.parse(readFileSync(new URL(file, folder), 'utf8'), generate);
      return [file.replace(/\.json$/, ''), documented as T];
    });
}

let pem: string | undefined;

/** Replaces what a file does not contain: private keys. */
function generate(_key: string, value: unknown): unknown {
  if (value !== 'generate:pem' && value !== 'generate:service_account') return value;
  pem ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  return value === 'generate:pem' ? pem : serviceAccountOf(pem);
}

/** Returns the JSON file of a service account, with a new key. */
export const generateServiceAccount = (): string => String(generate('', 'generate:service_account'));

function serviceAccountOf(privateKey: string): string {
  const account = 'reader@acme-prod-4711.iam.gserviceaccount.com';
  const key = { private_key_id: 'key-1', private_key: privateKey };
  return JSON.stringify({ type: 'service_account', project_id: 'acme-prod-4711', client_email: account, ...key });
}

/** Responds to documented requests only, and collects all others. */
export class DocumentedVendor {
  /** Requests that the documentation does not describe, each with the reasons. */
  readonly unknown: string[] = [];
  readonly #used = new Set<DocumentedExchange>();
  readonly #exchanges: readonly DocumentedExchange[];

  constructor(exchanges: readonly DocumentedExchange[]) {
    this.#exchanges = exchanges;
  }

  /** Origins of all documented requests. */
  get origins(): string[] {
    return [...new Set(this.#exchanges.map(({ request }) => new URL(request.url).origin))];
  }

  /** Documented requests that were not sent. */
  get unused(): string[] {
    return this.#exchanges.filter((each) => !this.#used.has(each)).map(({ request }) => describe(request));
  }

  /** @param origin the vendor's origin, not the local server's */
  respond(received: Received, origin: string): Reply {
    const request = unzipped(received);
    const reasons = new Map(this.#exchanges.map((each) => [each, differences(each.request, request, origin)]));
    const matching = this.#exchanges.filter((each) => reasons.get(each)?.length === 0);
    const found = matching.find((each) => !this.#used.has(each)) ?? matching.at(-1);
    if (!found) {
      const closest = [...reasons].toSorted(([, a], [, b]) => a.length - b.length)[0];
      this.unknown.push(`${request.method} ${origin}${request.url}: ${closest?.[1].join(', ') ?? 'none documented'}`);
      return { status: 400, body: { error: 'not documented' } };
    }
    this.#used.add(found);
    const { status = 200, headers = {}, body } = found.response;
    if (body === undefined) return { status, headers };
    if (typeof body === 'string') return { status, headers, body };
    return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
  }
}

/** Returns a request as if it had been sent without compression. */
export function unzipped(request: Received): Received {
  if (request.headers['content-encoding'] !== 'gzip') return request;
  const bytes = gunzipSync(request.bytes);
  return { ...request, bytes, body: bytes.toString() };
}

const describe = ({ method = 'GET', url, query }: DocumentedExchange['request']): string =>
  `${method} ${url}${query ? ` ${JSON.stringify(query)}` : ''}`;

const matches = (expected: Expected, value: string | undefined): boolean =>
  value !== undefined &&
  (typeof expected === 'string' ? value === expected : new RegExp(`^(?:${expected.pattern})$`, 'v').test(value));

function differences(expected: DocumentedExchange['request'], request: Received, origin: string): string[] {
  const { method = 'GET', url, query = {}, headers = {}, body, lines, gzip } = expected;
  const address = new URL(url);
  const sent = new URL(request.url, origin);
  const problems: string[] = [];
  if (request.method !== method) problems.push(`method is not ${method}`);
  if (address.origin !== origin) problems.push(`origin is not ${address.origin}`);
  if (address.pathname !== sent.pathname) problems.push(`path is not ${address.pathname}`);
  for (const name of new Set([...Object.keys(query), ...sent.searchParams.keys()])) {
    const wanted = query[name];
    const value = sent.searchParams.getAll(name).join(',');
    if (wanted === undefined) problems.push(`parameter ${name} is not documented`);
    else if (!matches(wanted, sent.searchParams.has(name) ? value : undefined))
      problems.push(`parameter ${name} is ${value} instead of ${JSON.stringify(wanted)}`);
  }
  for (const [name, wanted] of Object.entries(headers))
    if (!matches(wanted, request.headers[name.toLowerCase()]?.toString()))
      problems.push(`header ${name} is ${request.headers[name.toLowerCase()]?.toString()}`);
  const isSame =
    gzip === undefined
      ? lines
        ? linesMatch(lines, request)
        : bodyMatches(body, request)
      : gunzipped(request) === gzip;
  if (!isSame) problems.push(`body is ${request.body}`);
  return problems;
}

const gunzipped = ({ bytes }: Received): string | undefined =>
  bytes[0] === 0x1f ? gunzipSync(bytes).toString() : undefined;

function bodyMatches(expected: unknown, { body, headers }: Received): boolean {
  if (expected === undefined) return body === '';
  if (typeof expected === 'string') return body === expected;
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true)
    return jsonMatches(expected, Object.fromEntries(new URLSearchParams(body)));
  try {
    return jsonMatches(expected, JSON.parse(body));
  } catch {
    return false;
  }
}

function linesMatch(expected: readonly unknown[], { body }: Received): boolean {
  const lines = body.replace(/\n$/, '').split('\n');
  return lines.length === expected.length && lines.every((line, index) => jsonMatches(expected[index], parse(line)));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether two JSON values are equal. `{ "pattern": "..." }` matches a text. */
function jsonMatches(expected: unknown, value: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return expected === value;
  const entries = Object.entries(expected);
  if (entries.length === 1 && entries[0]?.[0] === 'pattern' && (typeof value === 'string' || typeof value === 'number'))
    return matches(expected as Expected, String(value));
  if (typeof value !== 'object' || value === null || Array.isArray(expected) !== Array.isArray(value)) return false;
  return (
    entries.length === Object.keys(value).length &&
    entries.every(([key, item]) => key in value && jsonMatches(item, (value as Record<string, unknown>)[key]))
  );
}

/** Whether a documented response contains this record. */
export function isDocumented(record: unknown, exchanges: readonly DocumentedExchange[]): boolean {
  const contains = (value: unknown): boolean =>
    isDeepStrictEqual(value, record) ||
    (typeof value === 'object' && value !== null && Object.values(value).some(contains));
  return exchanges.some(({ response }) => contains(response.body));
}
