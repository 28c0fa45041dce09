import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyDatabase } from '../../../../test/support/databases.js';
import { BOOT, formAssets, SCRIPT } from '../../../../test/support/form-assets.js';
import {
  createTestService,
  PARENT,
  PUBLIC_URL,
  type Tenant,
  type TestService,
} from '../../../../test/support/service.js';
import { createEmbedPage } from '../embed/embed-page.js';
import { loadFormAssets } from '../embed/form-assets.js';

const databases = anyDatabase();
let service: TestService;
let acme: Tenant;

beforeAll(async () => {
  const settings = {
    apiBases: ['https://api.example/"><script>'],
    allowedParentOrigins: [PARENT, 'http://localhost:3000'],
  };
  service = await createTestService({ database: await databases.open(), form: await formAssets(), settings });
  acme = await service.tenant('Northwind');
});
afterAll(() => service.store.close());

const page = (parent: string) => service.call('GET', `/embed/?parentOrigin=${encodeURIComponent(parent)}`);

describe('the page of the form', () => {
  it('has exactly these headers', async () => {
    const { status, headers } = await page(PARENT);
    const hash = createHash('sha256').update(BOOT).digest('base64');
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': [
        `default-src 'none'; script-src 'self' 'sha256-${hash}'; connect-src 'self'; style-src 'self' ${PARENT}; font-src 'self' ${PARENT};`,
        `img-src 'self' data:; frame-src 'none'; worker-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none';`,
        `frame-ancestors ${PARENT}; require-trusted-types-for 'script'; trusted-types lit-html;`,
        `sandbox allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox`,
      ].join(' '),
      'cross-origin-embedder-policy': 'credentialless',
      'cross-origin-resource-policy': 'cross-origin',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=()',
    });
  });

  it('lists only the configured API bases, escaped for HTML (S01)', async () => {
    const { text, headers } = await page(PARENT);
    const content = /<meta name="api-bases" content="([^"]*)"/.exec(text)?.[1] ?? '';
    expect(content).toBe(`[&quot;${PUBLIC_URL}&quot;,&quot;https://api.example/\\&quot;>&lt;script>&quot;]`);
    expect(headers.get('content-security-policy')).toContain("connect-src 'self';");
  });

  it('redirects to the path with a trailing slash', async () => {
    const { status, headers } = await service.call('GET', `/embed?parentOrigin=${PARENT}`);
    expect([status, headers.get('location')]).toEqual([308, `./embed/?parentOrigin=${PARENT}`]);
  });

  it('is available to an origin only while an organization allows it', async () => {
    const origin = 'https://console.acme.example';
    const allow = (allowed_origins: string[]) =>
      service.call('PATCH', `/v3/${acme.id}/organizations/${acme.team}`, { key: acme.key, body: { allowed_origins } });
    expect((await page(origin)).status).toBe(403);
    expect((await allow([origin])).body.allowed_origins).toEqual([origin]);
    expect((await page(origin)).headers.get('content-security-policy')).toContain(`frame-ancestors ${origin};`);
    await service.store.organizations.update(acme.team, { allowedOrigins: [] }, new Date());
    service.clock.advance(1_000);
    expect((await page(origin)).status).toBe(403);
  });
});

/** Returns 200 strings that are not the origin of a registered page (S07). */
function malformed(): string[] {
  const origin = PARENT;
  const host = new URL(origin).host;
  const around = [
    '/',
    '/x',
    '?',
    '#',
    ' ',
    '\n',
    '\r\n',
    '\t',
    ';',
    ',',
    "'",
    '"',
    '*',
    '\\',
    '%00',
    '\0',
    ':',
    ':0',
    ':80',
    ':443',
    ':65536',
    '@',
    '.',
    '..',
    ' *',
    '; script-src *',
    ' https://evil.example',
    ',https://evil.example',
  ];
  const schemes = [
    'http',
    'HTTPS',
    'ftp',
    'file',
    'data',
    'blob:https',
    'javascript',
    'ws',
    'wss',
    'chrome-extension',
    'about',
    'filesystem:https',
    'view-source:https',
    '',
  ];
  const hosts = [
    'app.example.',
    'APP.EXAMPLE',
    'app.example.evil.example',
    'evil.example',
    'app.examplе',
    'app。example',
    'xn--app',
    '*.example',
    '*',
    'app.example%2eevil',
    'user@app.example',
    'app.example@evil.example',
    '[::1',
    '[::1]x',
    '1.2.3',
    '0x7f.1',
    '2130706433',
    '127.1',
    'a'.repeat(300),
    'app..example',
    '-',
    '',
    'localhost:3000',
    'app.example:443',
    'ａpp.example',
    'app_example',
  ];
  const words = [
    'null',
    'NULL',
    'undefined',
    'self',
    "'self'",
    "'none'",
    '*',
    'https:',
    'https://',
    '//app.example',
    '/',
    '',
    ' ',
    'true',
    '[]',
    '{}',
    '0',
    'about:blank',
    'about:srcdoc',
    'data:,',
    'http://localhost',
    'http://localhost:3001',
    'https://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
    'http://app.example',
    'http://192.168.0.1',
  ];
  const all = [
    ...around.flatMap((text) => [`${origin}${text}`, `${text}${origin}`, `https://${text}${host}`]),
    ...schemes.map((scheme) => `${scheme}://${host}`),
    ...hosts.map((name) => `https://${name}`),
    ...words,
    ...Array.from({ length: 32 }, (_, code) => `${origin}${String.fromCharCode(code)}`),
    ...Array.from({ length: 32 }, (_, code) => `https://app${String.fromCharCode(code)}.example`),
  ];
  return [...new Set(all)].filter((text) => text !== origin);
}

describe('a page that is not registered (S07)', () => {
  it('gets 403 without a script for every malformed or foreign origin', async () => {
    const texts = malformed();
    expect(texts.length).toBeGreaterThanOrEqual(200);
    for (const text of texts) {
      const { status, headers, text: body } = await page(text);
      expect([text, status]).toEqual([text, 403]);
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(body).not.toMatch(/script|evil|</);
    }
  });

  it('gets 403 without parentOrigin, with two, or with a misspelled parameter', async () => {
    const evil = 'https://evil.example';
    for (const query of [
      '',
      '?',
      '?parentOrigin',
      '?parentOrigin=',
      `?parentorigin=${PARENT}`,
      `?parentOrigin[]=${PARENT}`,
      `?parentOrigin=${PARENT}&parentOrigin=${evil}`,
      `?parentOrigin=${evil}&parentOrigin=${PARENT}`,
      `?parentOrigin=${PARENT}&parentOrigin=${PARENT}`,
    ]) {
      expect([query, (await service.call('GET', `/embed/${query}`)).status]).toEqual([query, 403]);
    }
  });
});

const get = (name: string, encoding?: string) =>
  service.app.request(
    `/embed/assets/${name}`,
    encoding === undefined ? {} : { headers: { 'accept-encoding': encoding } },
  );

const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer());

describe('the files of the form', () => {
  it('are cached permanently and compressed according to Accept-Encoding', async () => {
    const plain = await get('form-1a2b.js');
    expect((await bytes(plain)).toString()).toBe(SCRIPT);
    expect(Object.fromEntries(plain.headers)).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    });
    const brotli = await get('form-1a2b.js', 'gzip, deflate, br, zstd');
    expect(brotli.headers.get('content-encoding')).toBe('br');
    expect(brotliDecompressSync(await bytes(brotli)).toString()).toBe(SCRIPT);
    const gzip = await get('form-1a2b.js', 'gzip, br;q=0');
    expect(gzip.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(await bytes(gzip)).toString()).toBe(SCRIPT);
    for (const none of ['', 'identity', 'br;q=0.0, gzip;q=0', 'brotli']) {
      expect((await get('form-1a2b.js', none)).headers.get('content-encoding'), none).toBeNull();
    }
  });

  it('do not include any other file', async () => {
    for (const name of ['form-1a2b.js.map', '..%2findex.html', 'index.html', '', 'constructor', '__proto__']) {
      expect((await get(name)).status, name).toBe(404);
    }
  });

  it('cause an error with a hint if they are missing or incomplete', async () => {
    await expect(loadFormAssets('/nowhere')).rejects.toThrow('npm run build');
    const assets = { ...(await formAssets()), html: '<p>no place</p>' };
    expect(() => createEmbedPage(assets, [])).toThrow('api-bases');
  });
});
