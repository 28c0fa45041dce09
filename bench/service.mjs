import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { SignJWT } from 'jose';
import { createApp } from '@connector-frame/service';
import { report, sideBySide } from './lib.mjs';
import { openService } from './open-service.mjs';

const ROUNDS = 11;
const CALLS = 2_000;
const SHARE = 0.7;
const ROWS = 50;

/** Caches the result of every read, so the measurement covers the service without its storage. */
function remembering(target) {
  const answers = new Map();
  return new Proxy(target, {
    get(object, name) {
      const value = Reflect.get(object, name);
      if (typeof value === 'object' && value !== null) {
        if (!answers.has(name)) answers.set(name, remembering(value));
        return answers.get(name);
      }
      if (typeof value !== 'function') return value;
      return (...given) => {
        const key = `${String(name)} ${JSON.stringify(given)}`;
        if (!answers.has(key)) answers.set(key, value.apply(object, given));
        return answers.get(key);
      };
    },
  });
}

/**
 * Serves an app. `cost` returns the CPU time of this process per request in microseconds, as the
 * operating system accounts it.
 */
async function openServer(app) {
  const server = createServer(getRequestListener(app.fetch));
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  const load = fork(new URL('load.mjs', import.meta.url));
  return {
    async cost({ path, ...what }) {
      const before = process.cpuUsage();
      load.send({ url: `http://localhost:${server.address().port}${path}`, calls: CALLS, ...what });
      await once(load, 'message');
      const { user, system } = process.cpuUsage(before);
      return (user + system) / CALLS;
    },
    close() {
      load.kill();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function compare(name, service, bare, request) {
  // Warm up both before measuring.
  await service.cost(request);
  await bare.cost(request);
  const { a, b, ratio } = await sideBySide(
    ROUNDS,
    () => bare.cost(request),
    () => service.cost(request),
  );
  const told = `${ratio.toFixed(2)} of a bare Hono route (${b.toFixed(0)} \u00b5s of CPU a call against ${a.toFixed(0)} \u00b5s)`;
  report(name, told, `at least ${SHARE}`, ratio >= SHARE);
}

export default async function service() {
  const { deps, apiKey, team, close } = await openService();
  try {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const call = (path, init) => () => new Request(`http://localhost:4000${path}`, { headers, ...init });
    const filler = createApp(deps);
    for (let row = 0; row < ROWS; row += 1) {
      const body = {
        name: `Okta ${row}`,
        type: 'okta-systemlog',
        config: {
          settings: { org_url: 'https://acme.okta.com' },
          secrets: { api_key: { value: `00aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789${1000 + row}` } },
        },
      };
      const response = await filler.fetch(call(`/v2/${team}/inputs`, { method: 'POST', body: JSON.stringify(body) })());
      if (!response.ok) throw new Error(await response.text());
    }
    const app = createApp({ ...deps, store: remembering(deps.store) });
    const read = async (path) => (await app.fetch(call(path)())).text();

    const key = new TextEncoder().encode('a key of thirty-two bytes, or so.');
    // Dates, as a database driver returns them.
    const moment = (key, value) => (key.endsWith('_at') ? new Date(value) : value);
    const connectors = JSON.parse(await read(`/v1/${team}/inputs?limit=${ROWS}`), moment);
    const types = await read('/v1/inputs');
    const type = await read('/v1/inputs/okta-systemlog');
    const bare = new Hono();
    bare.post('/v3/sessions', async (c) => {
      const { organization_id: organization } = await c.req.json();
      const token = await new SignJWT({ org: organization, key: 'bench', parent_origins: ['http://localhost:3000'] })
        .setProtectedHeader({ alg: 'HS256', typ: 'embed-session+jwt' })
        .setIssuedAt()
        .setExpirationTime('30m')
        .setJti(crypto.randomUUID())
        .sign(key);
      return c.json({
        session_token: token,
        organizationId: organization,
        expires_at: new Date().toISOString(),
        ttl_seconds: 1800,
      });
    });
    bare.get('/v1/inputs', (c) => c.body(types, 200, { 'content-type': 'application/json' }));
    bare.get('/v1/inputs/okta-systemlog', (c) => c.body(type, 200, { 'content-type': 'application/json' }));
    bare.get('/v1/:org/inputs', (c) => c.json(connectors));

    const [served, plain] = await Promise.all([openServer(app), openServer(bare)]);
    try {
      const get = (path) => ({ method: 'GET', path, headers });
      const mint = { method: 'POST', path: '/v3/sessions', headers, body: JSON.stringify({ organization_id: team }) };
      await compare('minting a session', served, plain, mint);
      await compare(`listing ${ROWS} connectors`, served, plain, get(`/v1/${team}/inputs?limit=${ROWS}`));
      await compare('listing the catalog', served, plain, get('/v1/inputs'));
      await compare('reading a type', served, plain, get('/v1/inputs/okta-systemlog'));
    } finally {
      served.close();
      plain.close();
    }
  } finally {
    await close();
  }
}
