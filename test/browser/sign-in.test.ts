/** The pages of the sign-in in a browser: by keyboard, at 320 px, in light and dark, without scripts. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Secret, TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations } from '../support/axe-violations.js';
import { launchBrowser } from '../support/browser.js';
import { anyDatabase } from '../support/databases.js';
import { codeOf } from '../support/guides.js';
import { serve } from '../support/serve.js';
import { createTestService, type Tenant, type TestService } from '../support/service.js';
import { storedConnection } from '../support/users.js';

const PASSWORD = 'four quiet herons at noon';

const databases = anyDatabase();
let browser: Browser;
let server: Server;
let service: TestService;
let acme: Tenant;
let origin: string;
/** A console of the operator: the code of docs/guides/sign-in.md, verbatim except for the address. */
let consoleSite: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  browser = await launchBrowser();
  server = createServer((request, response) => void getRequestListener(service.app.fetch)(request, response));
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const code = (await codeOf('sign-in', 'console.js')).replace('https://connect.example', origin);
  consoleSite = await serve({
    '/': `<!doctype html><title>Console</title><button>Sign in</button><p role="status"></p>
      <script type="module">
        import { finishSignIn, refresh, signIn } from './console.js';
        document.querySelector('button').onclick = signIn;
        const show = (text) => (document.querySelector('p').textContent = text);
        const tokens = await finishSignIn().then((first) => first && refresh(first), ({ message }) => show(message));
        if (tokens) {
          const headers = { authorization: 'Bearer ' + tokens.access_token };
          const flags = await fetch('${origin}/v3/feature_flags', { headers });
          show(tokens.email + ' ' + flags.status);
        }
      </script>`,
    '/console.js': { body: code, headers: { 'content-type': 'text/javascript' } },
  });
  service = await createTestService({
    database: await databases.open(),
    settings: {
      publicUrl: origin,
      consoleOrigins: [consoleSite.origin],
      signIn: { localAccounts: true, passwordCost: { logN: 4, r: 8, p: 1 } },
    },
  });
  acme = await service.tenant('Northwind');
});
afterAll(async () => {
  await browser.close();
  await consoleSite.close();
  await new Promise((resolve) => server.close(resolve));
  await service.close();
  await databases.close();
});

const otpOf = (secret: string): string =>
  new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) }).generate({ timestamp: service.clock.now() });

async function invite(email: string): Promise<string> {
  const body = { email, role_id: 'reader' };
  return (await service.call('POST', `/v1/${acme.id}/invites`, { key: acme.key, body })).body;
}

/** What a page has to be, in each size and color scheme. */
async function inspect(page: Page): Promise<void> {
  const title = await page.title();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [320, 1_280]) {
      await page.setViewportSize({ width, height: 800 });
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([title, width, overflow]).toEqual([title, width, 0]);
    }
    expect([title, colorScheme, await axeViolations(page)]).toEqual([title, colorScheme, []]);
  }
  // The style sheet of the page applies.
  expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).maxWidth`)).toBe('400px');
}

/** Returns what the console says about the policy of the pages. */
function refusals(context: BrowserContext): string[] {
  const found: string[] = [];
  context.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) found.push(message.text());
  });
  return found;
}

describe('the pages of the sign-in', () => {
  it('take a person from the invitation to a token, by keyboard', async () => {
    const context = await browser.newContext();
    const blocked = refusals(context);
    const page = await context.newPage();
    await page.goto(await invite('ana@example.com'));
    expect(new URL(page.url()).search).toBe('');
    await inspect(page);
    // The first field has the focus.
    await page.keyboard.type('Ana Lima');
    await page.keyboard.press('Tab');
    await page.keyboard.type('short');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByText('Use at least 12 characters').count()).toBe(1);
    await inspect(page);
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ana Lima');
    expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Set up your authenticator app' }).waitFor();
    await inspect(page);
    const secret = await page.locator('code').innerText();
    await page.keyboard.type('000000');
    await page.keyboard.press('Enter');
    await page.getByText('The code is wrong').waitFor();
    await page.keyboard.type(otpOf(secret));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    await inspect(page);
    expect(await page.locator('.codes li').count()).toBe(10);
    const user = await page.getByLabel('Access token').inputValue();
    expect((await service.call('GET', `/v1/users?organization_id=${acme.id}`, { user })).body.username).toBe(
      'Ana Lima',
    );
    expect(await context.cookies()).toEqual([]);

    service.clock.advance(30_000);
    await page.goto(`${origin}/v1/login`);
    await inspect(page);
    await page.keyboard.type('ana@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Enter your password' }).waitFor();
    await inspect(page);
    await page.keyboard.type('a wrong password');
    await page.keyboard.press('Enter');
    await page.getByText('The e-mail address or the password is wrong').waitFor();
    await inspect(page);
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
    await inspect(page);
    await page.keyboard.type(otpOf(secret));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    expect(blocked).toEqual([]);

    service.clock.advance(30_000);
    await page.goto(consoleSite.origin);
    await page.getByRole('button').click();
    await page.getByLabel('E-mail address').fill('ana@example.com');
    await page.keyboard.press('Enter');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByLabel('Code').fill(otpOf(secret));
    await page.keyboard.press('Enter');
    await page.getByText('ana@example.com 200').waitFor();
    expect(page.url()).toBe(`${consoleSite.origin}/`);
    expect(await context.cookies()).toEqual([]);
    await context.close();
  });

  it('choose among connections, and lead to an identity provider although forms may not', async () => {
    const context = await browser.newContext();
    const blocked = refusals(context);
    const page = await context.newPage();
    for (const name of ['Acme Europe', 'Acme US']) {
      const id = await storedConnection(service, acme.id);
      await service.database.script((run) =>
        run(`update sso_connections set public_name = '${name}', email_domains = '{acme.example}' where id = '${id}'`),
      );
    }
    let left = '';
    await context.route('https://idp.example/**', async (route) => {
      left = route.request().url();
      await route.fulfill({ body: 'The identity provider' });
    });
    await page.goto(`${origin}/login`);
    await inspect(page);
    await page.keyboard.type('bo@acme.example');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Choose where to sign in' }).waitFor();
    await inspect(page);
    await page.getByRole('button', { name: 'Acme US' }).press('Enter');
    await page.getByText('The identity provider').waitFor();
    expect(left).toContain('SAMLRequest=');
    expect(blocked).toEqual([]);
    await context.close();
  });

  it('run no script and cannot be framed', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const response = await page.goto(`${origin}/login`);
    const policy = response?.headers()['content-security-policy'] ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(await page.evaluate('document.scripts.length')).toBe(0);
    await page.goto(`${origin}/login/link?token=unknown`);
    await page.getByText('This link is not valid').waitFor();
    await inspect(page);
    const outside = await browser.newPage();
    await outside.setContent(`<iframe src="${origin}/login"></iframe>`);
    const frame = outside.frames().find((each) => each.parentFrame() !== null);
    expect(await frame?.getByLabel('E-mail address').count()).toBe(0);
    await outside.close();
    await context.close();
  });
});
