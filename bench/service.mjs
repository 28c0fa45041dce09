import { Hono } from 'hono';
import { SignJWT } from 'jose';
import { createApp } from '@connector-frame/service';
import { report, sideBySide } from './lib.mjs';
import { openService } from './open-service.mjs';

const ROUNDS = 15;
const CALLS = 1_500;
const SHARE = 0.7;
const ROWS = 50;

/** Remembers what every read answered, so that what is measured is the service without its storage. */
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

/** Calls per second of one request, made one after the other: time in the handler, no sockets. */
async function speed(app, request) {
  const started = performance.now();
  for (let call = 0; call < CALLS; call += 1) {
    const response = await app.fetch(request());
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
  return CALLS / ((performance.now() - started) / 1000);
}

async function compare(name, app, request, bare, bareRequest) {
  // Both get warm before anything counts.
  await speed(app, request);
  await speed(bare, bareRequest);
  const { a, b, ratio } = await sideBySide(
    ROUNDS,
    () => speed(app, request),
    () => speed(bare, bareRequest),
  );
  const told = `${ratio.toFixed(2)} of a bare Hono route (${Math.round(a)} against ${Math.round(b)} calls/s)`;
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
    const connectors = JSON.parse(await read(`/v1/${team}/inputs?limit=${ROWS}`));
    const types = await read('/v1/inputs');
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
    bare.get('/v1/:org/inputs', (c) => c.json(connectors));

    const mint = call('/v3/sessions', { method: 'POST', body: JSON.stringify({ organization_id: team }) });
    const list = call(`/v1/${team}/inputs?limit=${ROWS}`);
    const catalogList = call('/v1/inputs');
    await compare('minting a session', app, mint, bare, mint);
    await compare(`listing ${ROWS} connectors`, app, list, bare, list);
    await compare('listing the catalog', app, catalogList, bare, catalogList);
  } finally {
    await close();
  }
}
