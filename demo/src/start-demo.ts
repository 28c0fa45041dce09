import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toNodeHandler } from '@connector-frame/host/node';
import { createServer } from '@connector-frame/service';
import { createDemoHandler } from './server/create-demo-handler.js';
import { readRecord, writeRecord } from './server/record.js';

/** Environment variables. An empty value counts as unset. */
type Environment = Readonly<Record<string, string | undefined>>;

/** The running demo. */
export interface Demo {
  /** URL of the host product: `http://localhost:3000`. */
  readonly hostUrl: string;
  /** URL of the service: `http://localhost:4000`. */
  readonly serviceUrl: string;
  /** Stops both servers after writing all data to disk. Idempotent. */
  close(): Promise<void>;
}

/** The product's customers: IDs for sign-in, and names of their teams in the service. */
const customers = [
  { id: 'acme', name: 'Acme' },
  { id: 'globex', name: 'Globex' },
];

const defaultPages = fileURLToPath(new URL('public', import.meta.url));

/**
 * Starts the service and the demo product "Northwind Security". A restart on the same data reuses
 * the organization, the teams and the API key.
 * @throws Error with a message that says what to set
 */
export async function startDemo(environment: Environment, pages = defaultPages): Promise<Demo> {
  const port = readPort(environment['HOST_PORT'] || '3000');
  const folder = environment['DATA_DIR'] || '.data';
  const service = await createServer({
    ...environment,
    LOG_LEVEL: environment['LOG_LEVEL'] || 'warn',
    // Write pipelines' files next to the other data. Private networks stay blocked until
    // EGRESS_ALLOW allows them.
    FILE_OUTPUT_DIR: environment['FILE_OUTPUT_DIR'] || join(folder, 'files'),
  });
  let handle = starting;
  const http = createHttpServer((request, response) => handle(request, response));
  const close = async () => {
    await stop(http);
    await service.close();
  };
  try {
    const hostPort = await listen(http, port);
    const apiKey = environment['SERVICE_API_KEY'] || (await readRecord(folder))?.apiKey;
    const made = await service.bootstrap({
      organization: 'Northwind Security',
      teams: customers.map(({ name }) => name),
      keyName: 'Northwind host',
      allowedOrigins: [`http://localhost:${hostPort}`, `http://127.0.0.1:${hostPort}`],
      ...(apiKey && { apiKey }),
    });
    const tenants = customers.map(({ id, name }) => ({ id, name, organizationId: made.teams[name] ?? '' }));
    await writeRecord(folder, { apiKey: made.apiKey, organizationId: made.organizationId, tenants });
    const serviceUrl = environment['PUBLIC_URL'] || service.url;
    handle = toNodeHandler(await createDemoHandler({ serviceUrl, apiKey: made.apiKey, tenants, pages }));
    return { hostUrl: `http://localhost:${hostPort}`, serviceUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Responds with 503 until the real handler exists. That handler needs the port, which is only known
 * once it is open.
 */
const starting: RequestListener = (_request, response) => {
  response.writeHead(503, { 'retry-after': '1' }).end();
};

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`HOST_PORT must be a port, got "${text}": 3000, or 0 for any free one.`);
}

function listen(http: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `Port ${port} is taken. Stop what runs there, or set HOST_PORT to another one.`;
      reject(error.code === 'EADDRINUSE' ? new Error(taken) : error);
    });
    http.listen(port, '127.0.0.1', () => {
      const address = http.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

function stop(http: Server): Promise<void> {
  return new Promise((resolve) => {
    http.close(() => resolve());
    http.closeIdleConnections();
    setTimeout(() => http.closeAllConnections(), 2_000).unref();
  });
}
