import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadCatalog, type PollDefinition } from '@connector-frame/catalog';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPollInput } from '../../packages/connectors/src/_shared/poll/input.js';
import type { ReplaceableSecrets } from '../../packages/engine/src/connector-api/index.js';
import { createSecretExchanges } from '../../packages/service/src/secrets/secret-exchanges.js';
import type { Tables } from '../../packages/service/src/store/store.js';
import { exampleBody, typeOf } from '../support/connectors.js';
import { anyDatabase } from '../support/databases.js';
import { Driver, leadTo, TestClock } from '../support/poll-driver.js';
import { createTestService, type Tenant, type TestService } from '../support/service.js';
import { openStored } from '../support/stored-secrets.js';

const ORIGIN = 'https://api.acme.example';
const okta = typeOf('input', 'okta-systemlog');
const poll: PollDefinition = {
  verified: 'documented',
  documentation: [],
  base_url: ORIGIN,
  authentication: {
    kind: 'refresh_token',
    token_url: `${ORIGIN}/token`,
    client_id: 'acme',
    client_secret: 'a-client-secret-of-the-test',
    refresh_token: '/secrets/api_key',
    rotates: true,
  },
  streams: [
    {
      name: 'events',
      path: '/events',
      page_size: 10,
      records: { path: '' },
      pagination: { kind: 'none' },
      cursor: { kind: 'none' },
    },
  ],
  check: { path: '/events', records: { path: '' } },
};

/**
 * `oidc-provider`, a certified server: a refresh token that is presented twice ends the whole grant. Its
 * API accepts the access tokens.
 */
async function startProvider() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has a port
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { warn, info } = console;
  console.warn = console.info = () => undefined;
  const { Provider } = await import('oidc-provider');
  const provider = new Provider(origin, {
    clients: [
      {
        client_id: 'acme',
        client_secret: 'a-client-secret-of-the-test',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: ['https://app.example/'],
      },
    ],
    rotateRefreshToken: true,
    findAccount: (_context, id) => ({ accountId: id, claims: () => Promise.resolve({ sub: id }) }),
    cookies: { keys: ['a key of the test'] },
    ttl: { AccessToken: 600, Grant: 3_600, RefreshToken: 3_600, IdToken: 600 },
  });
  Object.assign(console, { warn, info });
  let refreshes = 0;
  const handle = provider.callback();
  /** Reads events with an access token. */
  async function readEvents(authorization = '', response: ServerResponse): Promise<void> {
    const found = await provider.AccessToken.find(authorization.slice('Bearer '.length));
    response.writeHead(found?.isValid ? 200 : 401, { 'content-type': 'application/json' });
    response.end('[{"n":1}]');
  }
  server.on('request', (request, response) => {
    if (request.url === '/events') void readEvents(request.headers.authorization, response);
    else {
      refreshes += 1;
      void handle(request, response);
    }
  });
  return {
    origin,
    refreshes: () => refreshes,
    async issue(): Promise<string> {
      const grant = new provider.Grant({ accountId: 'ada', clientId: 'acme' });
      grant.addOIDCScope('openid offline_access');
      const client = await provider.Client.find('acme');
      if (!client) throw new Error('no client');
      const token = new provider.RefreshToken({
        accountId: 'ada',
        client,
        grantId: await grant.save(),
        gty: 'authorization_code',
        scope: 'openid offline_access',
        expiresWithSession: false,
        claims: {},
        authTime: 1,
        nonce: 'n',
        sid: 's',
        sessionUid: 'u',
        acr: '',
        amr: [],
        resource: '',
      });
      return token.save();
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe('a refresh token that is replaced with each use', () => {
  const databases = anyDatabase();
  let service: TestService;
  let acme: Tenant;
  let provider: Awaited<ReturnType<typeof startProvider>>;
  const clock = new TestClock();

  beforeAll(async () => {
    provider = await startProvider();
    service = await createTestService({ database: await databases.open() });
    acme = await service.tenant('Northwind');
  });
  afterAll(async () => {
    await service.close();
    await provider.close();
    await databases.close();
  });

  const saved = async (): Promise<{ id: string; token: string }> => {
    const token = await provider.issue();
    const { config, ...rest } = exampleBody(okta);
    const body = { ...rest, config: { ...config, secrets: { api_key: { value: token } } } };
    const response = await service.call('POST', `/v2/${acme.team}/inputs`, { key: acme.key, body });
    if (response.status !== 200) throw new Error(response.text);
    return { id: response.body.id, token };
  };
  /** The exchanges of a process. */
  const process = (tables: Partial<Tables> = {}) =>
    createSecretExchanges({
      tables: { ...service.store, ...tables },
      locks: service.store.locks,
      vaultOf: (organizationId) => service.vault.ofOrganization(service.store, organizationId),
      catalog: loadCatalog(),
    });
  const pipeline = (token: string, secrets?: ReplaceableSecrets): Driver => {
    const egress = leadTo(provider.origin, [ORIGIN], () => undefined);
    return new Driver(() => {
      const context = { type: okta, egress, clock, ...(secrets && { secrets }) };
      const input = createPollInput(poll)({ settings: {}, secrets: { api_key: token } }, context);
      if (input.kind !== 'pages') throw new Error('no pages');
      return input;
    });
  };
  const refused = { code: 'invalid_credentials', kind: 'permanent' };

  it('is stored for all pipelines of a connector, and for the next process', async () => {
    const { id, token } = await saved();
    const connector = { id, organizationId: acme.team };
    const exchanges = process();
    const pipelines = [1, 2, 3].map(() => pipeline(token, exchanges.of(connector)));
    const before = provider.refreshes();
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(pipelines.map((each) => each.poll()));
      clock.ms += 600_000;
    }
    // The pipelines share each access token.
    expect(provider.refreshes() - before).toBe(3);
    expect((await openStored(service, acme.team, id))['api_key']).not.toBe(token);
    await pipeline(token, process().of(connector)).poll();
    clock.ms += 600_000;
    await Promise.all(pipelines.map((each) => each.poll()));
  });

  it('would end the grant without a store', async () => {
    const token = await provider.issue();
    await pipeline(token).poll();
    expect(await pipeline(token).fails()).toMatchObject(refused);
  });

  it('is presented again after a kill between response and commit, and a refusal is reported', async () => {
    const { id, token } = await saved();
    const connector = { id, organizationId: acme.team };
    const never = () => Promise.reject(new Error('no storage'));
    const killed = process({ secrets: { ...service.store.secrets, replaceValue: never } });
    expect(await pipeline(token, killed.of(connector)).fails()).toMatchObject({
      code: 'storage_failed',
      kind: 'retry',
    });
    expect(await pipeline(token, process().of(connector)).fails()).toMatchObject(refused);
  });
});
