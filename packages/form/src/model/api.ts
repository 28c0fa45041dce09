import { ApiError, readApiError, SessionExpired } from './api-error.js';
import { withRetry, type RetryTools } from './retry.js';
import type { Session } from './session.js';
import type { ConfigWrite, Connector, ConnectorType, ConnectorWrite } from './wire.js';

export interface ApiOptions extends RetryTools {
  fetch: typeof fetch;
  /** Without a slash at the end. */
  base: string;
  parentOrigin: string;
  organizationId: string;
  kind: 'input' | 'output';
  typeId: string;
  /** Absent: a new connector. */
  existingId?: string | undefined;
  session: Session;
  /** Answers to the first calls, begun while the form's script was on its way. */
  first?: { type: Promise<Response>; connector?: Promise<Response> | undefined } | undefined;
}

/** A connector, and what to name in `If-Match` to change exactly this version of it. */
export interface Loaded {
  connector: Connector;
  etag: string | null;
}

export interface TestResult {
  summary?: string;
  durationMs: number;
}

/** The calls the form makes. Each throws `ApiError`, `NoAnswer` or `SessionExpired`. */
export interface Api {
  loadType(): Promise<ConnectorType>;
  /** Undefined for a new connector. */
  loadConnector(): Promise<Loaded | undefined>;
  /** @param key one per intent of the person: a repeat with the same key is the same write */
  create(write: ConnectorWrite, key: string): Promise<Connector>;
  update(write: ConnectorWrite, etag: string | null, key: string): Promise<Connector>;
  test(config: ConfigWrite): Promise<TestResult>;
}

const TEST_MS = 30_000;

async function read<T>(response: Response): Promise<T> {
  const body: T = await response.json();
  return body;
}

export function createApi(options: ApiOptions): Api {
  const { fetch, base, parentOrigin, kind, session, existingId } = options;
  const type = encodeURIComponent(options.typeId);
  const id = existingId && encodeURIComponent(existingId);
  const connectors = `${encodeURIComponent(options.organizationId)}/${kind}s`;

  async function call(
    path: string,
    init: RequestInit = {},
    first?: Promise<Response>,
    tryMs?: number,
  ): Promise<Response> {
    let early = first;
    const send = (): Promise<Response> =>
      withRetry(
        (signal) => {
          const begun = early;
          early = undefined;
          if (begun) return begun;
          const headers = new Headers(init.headers);
          headers.set('Authorization', `Bearer ${session.token}`);
          headers.set('Connector-Frame-Parent', parentOrigin);
          if (init.body !== undefined) headers.set('Content-Type', 'application/json');
          return fetch(base + path, { ...init, headers, signal, credentials: 'omit', cache: 'no-store' });
        },
        options,
        tryMs,
      );

    if (!early) await session.prepare();
    let response = await send();
    if (response.status === 401) {
      if (!(await session.renew())) throw new SessionExpired();
      response = await send();
    }
    if (!response.ok) throw await readApiError(response);
    return response;
  }

  /** The first answer serves once: a later load asks again. */
  const first = { ...options.first };
  const take = (key: keyof typeof first): Promise<Response> | undefined => {
    const response = first[key];
    delete first[key];
    return response;
  };

  const write = (method: string, path: string, body: object, headers: Record<string, string>): Promise<Response> =>
    call(path, { method, body: JSON.stringify(body), headers });

  return {
    loadType: async () => read(await call(`/v1/${kind}s/${type}`, {}, take('type'))),

    async loadConnector() {
      if (!id) return undefined;
      const response = await call(`/v1/${connectors}/${id}`, {}, take('connector')).catch((error: unknown) => {
        const gone = error instanceof ApiError && error.status === 404;
        throw gone ? new ApiError(404, 'connector_not_found', error.message, []) : error;
      });
      return { connector: await read<Connector>(response), etag: response.headers.get('etag') };
    },

    create: async (body, key) => read(await write('POST', `/v2/${connectors}`, body, { 'Idempotency-Key': key })),

    async update(body, etag, key) {
      const match = etag === null ? {} : { 'If-Match': etag };
      return read(await write('PATCH', `/v2/${connectors}/${id}`, body, { 'Idempotency-Key': key, ...match }));
    },

    async test(config) {
      const begun = options.now();
      const body = JSON.stringify({ type: options.typeId, config, ...(existingId && { id: existingId }) });
      const response = await call(`/v2/${connectors}/test-connection`, { method: 'POST', body }, undefined, TEST_MS);
      const { summary, duration_ms } = await read<{ summary?: string; duration_ms?: number }>(response);
      return {
        durationMs: duration_ms ?? options.now() - begun,
        ...(summary && { summary: summary.replace(/\.$/, '') }),
      };
    },
  };
}
