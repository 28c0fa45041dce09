import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEgress, type Egress } from '../../packages/engine/src/egress/index.js';
import { systemClock } from '../../packages/engine/src/connector-api/index.js';
import { BlobClient } from '../../packages/connectors/src/azure/blob-client.js';
import { startServer } from './brokers/start-server.js';
import { createCertificate } from './certificate.js';
import { freePort } from './free-port.js';

const ACCOUNT = 'acmelogs';
export const ACCOUNT_KEY = Buffer.alloc(64, 'canary-storage-key').toString('base64');
const PROGRAM = new URL('../programs/azurite/package.json', import.meta.url);
const TENANT = '8d5f0c1e-4b7a-4c1d-9a52-6f3e2d1c0b9a';
export const APP = { client_id: '11111111-2222-4333-8444-555555555555', client_secret: '7nG8Q~canary-value' };

export interface Azurite {
  /** URL of the blob service. */
  url: string;
  tenant: string;
  /** Connects the addresses of Azure to Azurite, and answers Microsoft's token requests. */
  egress: Egress;
  /** Forms of the token requests, oldest first. */
  tokenRequests: Record<string, string>[];
  createContainer(name: string): Promise<void>;
  /** Creates or replaces a block blob. */
  put(container: string, key: string, content: string): Promise<void>;
  /** Creates an append blob, if there is none, and appends to it. */
  append(container: string, key: string, content: string): Promise<void>;
  get(container: string, key: string): Promise<Buffer>;
  close(): Promise<void>;
}

/** Starts Azurite, which only the long run installs: Microsoft's emulator of Azure Storage, which verifies signatures and tokens. */
export async function startAzurite(): Promise<Azurite> {
  const folder = await mkdtemp(join(tmpdir(), 'azurite-'));
  const host = `${ACCOUNT}.blob.localhost`;
  const { cert, key } = createCertificate(host, '127.0.0.1');
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)]);
  const port = await freePort();
  const options = ['--inMemoryPersistence', '--disableTelemetry', '--silent', '--blobHost', '127.0.0.1'];
  const tls = ['--oauth', 'basic', '--cert', certFile, '--key', keyFile];
  const server = await startServer(
    process.execPath,
    [createRequire(PROGRAM).resolve('azurite/dist/src/blob/main.js'), ...options, '--blobPort', String(port), ...tls],
    port,
    'npm install',
    { AZURITE_ACCOUNTS: `${ACCOUNT}:${ACCOUNT_KEY}` },
  );
  const url = `https://${host}:${port}`;
  const tokenRequests: Record<string, string>[] = [];
  const real = createEgress({
    allow: ['127.0.0.0/8'],
    ca: cert,
    lookup: () => Promise.resolve(['127.0.0.1']),
    timeoutMs: 5_000,
  });
  const egress: Egress = {
    ...real,
    fetch(address, init) {
      const asked = new URL(address);
      if (asked.href === `https://login.microsoftonline.com/${TENANT}/oauth2/v2.0/token`) {
        const form = Object.fromEntries(new URLSearchParams(String(init?.body)));
        tokenRequests.push(form);
        const isApp = form['client_id'] === APP.client_id && form['client_secret'] === APP.client_secret;
        if (!isApp) return Promise.resolve(Response.json({ error: 'invalid_client' }, { status: 401 }));
        return Promise.resolve(Response.json({ token_type: 'Bearer', expires_in: 3599, access_token: token() }));
      }
      const isAccount = asked.origin === `https://${ACCOUNT}.blob.core.windows.net`;
      return real.fetch(isAccount ? url + asked.pathname + asked.search : asked, init);
    },
  };
  const send = async (container: string, path: string, method: string, headers = {}, body?: string) => {
    const settings = { account_name: ACCOUNT, container_name: container };
    const client = new BlobClient({
      fields: { account: '/settings/account_name', container: 'container_name', auth: 'shared_key' },
      config: { settings, secrets: { account_key: ACCOUNT_KEY } },
      egress,
      clock: systemClock,
    });
    const request = { method, headers, ...(body !== undefined && { body }) };
    return client.send(path, request, { signal: new AbortController().signal, maxBytes: 100_000_000 });
  };
  const created = async (...parameters: Parameters<typeof send>): Promise<void> => {
    const response = await send(...parameters);
    if (response.status !== 201) throw new Error(`Azurite responded with ${response.status}: ${await response.text()}`);
  };
  const pathOf = (key: string): string => `/${key.split('/').map(encodeURIComponent).join('/')}`;
  return {
    url,
    tenant: TENANT,
    egress,
    tokenRequests,
    createContainer: (name) => created(name, '?restype=container', 'PUT'),
    put: (container, name, content) =>
      created(container, pathOf(name), 'PUT', { 'x-ms-blob-type': 'BlockBlob' }, content),
    async append(container, name, content) {
      const head = await send(container, pathOf(name), 'HEAD');
      if (head.status === 404) await created(container, pathOf(name), 'PUT', { 'x-ms-blob-type': 'AppendBlob' });
      await created(container, `${pathOf(name)}?comp=appendblock`, 'PUT', {}, content);
    },
    async get(container, name) {
      return Buffer.from(await (await send(container, pathOf(name), 'GET')).arrayBuffer());
    },
    async close() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a token with the claims that Azurite checks; it does not check the signature. */
function token(): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    aud: 'https://storage.azure.com',
    iss: `https://sts.windows.net/${TENANT}/`,
    iat: now,
    nbf: now - 60,
  };
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ...claims, exp: now + 3_600 })}`;
  return `${signed}.${createHmac('sha256', 'key').update(signed).digest('base64url')}`;
}
