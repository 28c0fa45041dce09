import type { ComponentKind } from '@connector-frame/core/protocol';
import { ApiError, readApiError, SessionExpired } from './api-error.js';
import { withRetry, type RetryTools } from './retry.js';
import type { Session } from './session.js';
import type { AwsTrust, ConfigWrite, Connector, ConnectorType, ConnectorWrite } from './wire.js';

export interface ApiOptions extends RetryTools {
  fetch: typeof fetch;
  /** Base URL of the service, without a trailing slash. */
  base: string;
  parentOrigin: string;
  organizationId: string;
  kind: ComponentKind;
  typeId: string;
  /** Absent for a new connector. */
  existingId?: string | undefined;
  session: Session;
  /**
   * Requests that the boot script has started, by path. Each response is used once; a later load
   * sends a new request.
   */
  started?: Map<string, Promise<Response>>;
}

/**
 * A connector and its ETag. An update sends the ETag as `If-Match`, so that it changes only this
 * version.
 */
export interface LoadedConnector {
  saved: Connector;
  etag: string | null;
}

export interface TestResult {
  /** Without a trailing period; may be empty. */
  summary: string;
  durationMs: number;
}

/** The API calls of the form. Each rejects with `ApiError`, `NoResponse` or `SessionExpired`. */
export interface Api {
  loadType(): Promise<ConnectorType>;
  /** Loads the name of the session's organization. */
  loadOrganization(): Promise<string>;
  /** Resolves with undefined for a new connector. */
  loadConnector(): Promise<LoadedConnector | undefined>;
  /** @param key idempotency key: a repeated call with the same key writes only once */
  create(write: ConnectorWrite, key: string): Promise<Connector>;
  update(write: ConnectorWrite, etag: string | null, key: string): Promise<Connector>;
  test(config: ConfigWrite): Promise<TestResult>;
  /** Returns whether an account can be connected for the type. */
  offersAccount(): Promise<boolean>;
  startConsent(settings: Record<string, unknown>): Promise<{ id: string; url: string }>;
  consentStatus(id: string): Promise<ConsentStatus>;
  /** Loads what a role at AWS has to trust. */
  awsTrust(): Promise<AwsTrust>;
}

export interface ConsentStatus {
  status: 'pending' | 'connected' | 'cancelled' | 'failed';
  /** Name of the account, if it is known. */
  account?: string;
}

const TEST_MS = 30_000;

async function read<T>(response: Response): Promise<T> {
  const body: T = await response.json();
  return body;
}

export function createApi(options: ApiOptions): Api {
  const { base, kind, session, existingId, typeId, started } = options;
  const id = encodeURIComponent(existingId ?? '');
  const organization = encodeURIComponent(options.organizationId);
  // Enrichments came with the third version of the public API.
  const connectors = (version: number): string => `/v${kind === 'enrichment' ? 3 : version}/${organization}/${kind}s`;

  const oauth = `/v1/oauth/${encodeURIComponent(typeId)}/${organization}`;

  async function call(
    path: string,
    init: Pick<RequestInit, 'method' | 'body'> & { headers?: Record<string, string> } = {},
    tryMs?: number,
  ): Promise<Response> {
    const send = (): Promise<Response> =>
      withRetry(
        (signal) => {
          const early = started?.get(path);
          started?.delete(path);
          const headers = {
            ...init.headers,
            Authorization: `Bearer ${session.token}`,
            'Connector-Frame-Parent': options.parentOrigin,
          };
          return early ?? options.fetch(base + path, { ...init, headers, signal, credentials: 'omit' });
        },
        options,
        tryMs,
      );

    await session.prepare();
    let response = await send();
    if (response.status === 401) {
      if (!(await session.renewSoon())) throw new SessionExpired();
      response = await send();
    }
    if (!response.ok) throw await readApiError(response);
    return response;
  }

  const write = (
    method: string,
    path: string,
    body: object,
    headers?: Record<string, string>,
    tryMs?: number,
  ): Promise<Response> =>
    call(
      path,
      { method, body: JSON.stringify(body), headers: { ...headers, 'Content-Type': 'application/json' } },
      tryMs,
    );

  return {
    loadType: async () => read(await call(`/v1/${kind}s/${encodeURIComponent(typeId)}`)),

    async loadOrganization() {
      return (await read<{ organization: { name: string } }>(await call('/v3/session'))).organization.name;
    },

    async loadConnector() {
      if (!existingId) return undefined;
      const response = await call(`${connectors(1)}/${id}`).catch((error: unknown) => {
        throw error instanceof ApiError && error.status === 404 ? new ApiError(404, 'connector_not_found') : error;
      });
      return { saved: await read<Connector>(response), etag: response.headers.get('etag') };
    },

    create: async (body, key) => read(await write('POST', connectors(2), body, { 'Idempotency-Key': key })),

    async update(body, etag, key) {
      const headers = { 'Idempotency-Key': key, ...(etag !== null && { 'If-Match': etag }) };
      return read(await write('PATCH', `${connectors(2)}/${id}`, body, headers));
    },

    async offersAccount() {
      try {
        await call(`${oauth}?kind=${kind}`);
        return true;
      } catch {
        // The secret can be entered all the same.
        return false;
      }
    },

    startConsent: async (settings) => read(await write('POST', oauth, { kind, settings })),
    consentStatus: async (id) => read(await call(`${oauth}/${encodeURIComponent(id)}`)),
    awsTrust: async () => read(await call(`/v1/${organization}/aws`)),

    async test(config) {
      const started = options.now();
      const body = { type: typeId, config, ...(existingId && { id: existingId }) };
      const response = await write('POST', `${connectors(2)}/test-connection`, body, {}, TEST_MS);
      const { summary = '', duration_ms } = await read<{ summary?: string; duration_ms?: number }>(response);
      return { durationMs: duration_ms ?? options.now() - started, summary: summary.replace(/\.$/, '') };
    },
  };
}
