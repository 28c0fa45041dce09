import { request as startRequest, type IncomingHttpHeaders } from 'node:http';
import { loadCatalog } from '@connector-frame/catalog';
import type { AppendOptions } from '@connector-frame/engine';
import { createEgress, type Egress } from '@connector-frame/engine/egress';
import { connectors } from '@connector-frame/connectors';
import { expect } from 'vitest';
import { createIngest } from '../../packages/service/src/ingest/create-ingest.js';
import { createIngestTokens } from '../../packages/service/src/ingest/tokens.js';
import type { Ingested } from '../../packages/service/src/pipelines/engine.js';
import type { Database } from '../../packages/service/src/store/database.js';
import { anyDatabase } from './databases.js';
import { listenHttp } from './listener.js';
import { createTestService } from './service.js';

export const MIB = 1024 * 1024;

export interface SentResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The response body as JSON; an empty object if it is not JSON. */
  json: Record<string, unknown>;
}

export interface SendOptions {
  token?: string;
  headers?: Record<string, string>;
  method?: string;
}

const stored = (): Promise<Ingested> => Promise.resolve({ stored: true, tooLarge: [] });

export type IngestListener = Awaited<ReturnType<typeof startIngestListener>>;

/**
 * Starts the ingest listener on a port, in front of an engine stub that returns what the test sets.
 * @param database default: a new embedded one
 * @param egress what receivers may connect to; default: public addresses
 */
export async function startIngestListener(database?: Database, egress: Egress = createEgress({ allow: [] })) {
  const service = await createTestService({ database: database ?? (await anyDatabase().open()) });
  const acme = await service.tenant('Northwind');
  const tokens = createIngestTokens(service.vault);
  const engine = {
    /** The batches that reached the engine. `store` returns its result. */
    appended: [] as { connectorId: string; lines: readonly string[]; options?: AppendOptions | undefined }[],
    store: stored,
  };
  const ingest = createIngest({
    store: service.store,
    tokens,
    vault: service.vault,
    egress,
    catalog: loadCatalog(),
    connectors,
    engine: {
      append(connectorId, lines, options) {
        engine.appended.push({ connectorId, lines, options });
        return engine.store();
      },
    },
    clock: service.clock,
    lifetimeMs: 3_600_000,
    log: service.logger,
    metrics: service.metrics,
  });
  const server = await listenHttp((request, response) => {
    if (!ingest(request, response)) response.writeHead(418).end();
  });
  const { port } = server;

  async function create(type: string, tenant: typeof acme, settings: object = {}, secrets: object = {}) {
    const body = { name: 'Pushed', type, config: { settings, secrets } };
    const made = await service.call('POST', `/v2/${tenant.team}/inputs`, { key: tenant.key, body });
    expect(made.status, made.text).toBe(200);
    return made.body;
  }
  const newInput = async (type: string, tenant = acme): Promise<string> => (await create(type, tenant)).id;
  const http = await newInput('monad-http');
  const otel = await newInput('monad-otel');

  function post(
    path: string,
    body: string | Uint8Array,
    { token, headers = {}, method = 'POST' }: SendOptions = {},
  ): Promise<SentResponse> {
    return new Promise((resolve, reject) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const request = startRequest({ port, method, path, headers: { ...authorization, ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () => {
          const whole = Buffer.concat(chunks);
          const isJson = response.headers['content-type']?.startsWith('application/json') === true;
          const { statusCode = 0, headers: responseHeaders } = response;
          resolve({
            status: statusCode,
            headers: responseHeaders,
            body: whole,
            json: isJson ? JSON.parse(whole.toString()) : {},
          });
        });
      });
      request.once('error', reject);
      request.end(body);
    });
  }

  return {
    service,
    acme,
    tokens,
    engine,
    port,
    /** Ids of one input for each type that receives records over HTTP. */
    http,
    otel,
    newInput,
    /** Creates an input with fields. Returns its id, the path of its address and its token. */
    async newReceiver(type: string, settings?: object, secrets?: object) {
      const { id, ingest } = await create(type, acme, settings, secrets);
      return { id: String(id), path: new URL(ingest.url).pathname, token: String(ingest.token) };
    },
    post,
    /** Sends records to an input with its own token. */
    send: (body: string | Uint8Array, headers?: Record<string, string>, id = http): Promise<SentResponse> =>
      post(`/ingest/${id}`, body, { token: tokens.of(id), ...(headers && { headers }) }),
    /** Resets the engine stub before each test: no batches, every append succeeds. */
    reset(): void {
      engine.appended.length = 0;
      engine.store = stored;
    },
    async close(): Promise<void> {
      await server.close();
      await service.store.close();
    },
  };
}
