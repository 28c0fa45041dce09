import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { SignJWT } from 'jose';
import { createApp } from '@connector-frame/service';
import { report, sideBySide } from './lib.mjs';
import { openServer } from './open-server.mjs';
import { openService } from './open-service.mjs';

const ROUNDS = 11;
const CALLS = 2_000;
const SHARE = 0.7;
/** Of a bare route that authenticates and sends the same bytes and headers. */
const SHARE_OF_SAME = 0.8;
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

async function compare(name, service, bare, request, { than = 'a bare Hono route', bound = SHARE } = {}) {
  // Warm up both before measuring.
  await service.cost(CALLS, request);
  await bare.cost(CALLS, request);
  const { a, b, ratio } = await sideBySide(
    ROUNDS,
    () => bare.cost(CALLS, request),
    () => service.cost(CALLS, request),
  );
  const told = `${ratio.toFixed(2)} of ${than} (${b.toFixed(0)} \u00b5s of CPU a call against ${a.toFixed(0)} \u00b5s)`;
  report(name, told, `at least ${bound}`, ratio >= bound);
}

/**
 * Returns a handler that looks up the key in a map, and sends the bytes and headers of a response
 * of the service.
 */
function sameResponse(apiKey, response) {
  const keys = new Map([[apiKey, { permissions: new Set(['input:read']) }]]);
  const lookUp = async (text) => keys.get(text);
  const headers = Object.fromEntries(response.headers);
  const body = response.arrayBuffer().then((bytes) => new Uint8Array(bytes));
  return async (c) => {
    const key = await lookUp(c.req.header('x-api-key'));
    if (!key?.permissions.has('input:read')) return c.json({ error: 'forbidden' }, 403);
    return c.body(await body, 200, { ...headers, 'request-id': randomUUID() });
  };
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
    for (const path of ['/v1/inputs', '/v1/inputs/okta-systemlog']) {
      bare.get(path, sameResponse(apiKey, await app.fetch(call(path)())));
    }
    bare.get('/v1/:org/inputs', (c) => c.json(connectors));

    const [served, plain] = await Promise.all([openServer(app), openServer(bare)]);
    try {
      const get = (path) => ({ method: 'GET', path, headers });
      const mint = { method: 'POST', path: '/v3/sessions', headers, body: JSON.stringify({ organization_id: team }) };
      await compare('minting a session', served, plain, mint);
      await compare(`listing ${ROWS} connectors`, served, plain, get(`/v1/${team}/inputs?limit=${ROWS}`));
      const same = {
        than: 'a bare Hono route that looks up the key and sends the same bytes and headers',
        bound: SHARE_OF_SAME,
      };
      await compare('listing the catalog', served, plain, get('/v1/inputs'), same);
      await compare('reading a type', served, plain, get('/v1/inputs/okta-systemlog'), same);
    } finally {
      served.close();
      plain.close();
    }
  } finally {
    await close();
  }
}
