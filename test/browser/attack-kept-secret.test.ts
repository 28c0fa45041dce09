import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificate } from '../support/certificate.js';
import { connect, postgresql } from '../support/databases.js';
import type { DrivenBrowser, DrivenPage } from '../support/engines/driven.js';
import { frameUser, type FrameUser } from '../support/engines/frame-user.js';
import { inEngines } from '../support/engines/in-engines.js';
import { listenHttp } from '../support/listener.js';
import { openHost } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';

// Attackers without access to a stored secret try to have it sent to them: a page that gets a user
// to turn off certificate checks, and someone with write access to the database. All servers run on
// this machine.

const KEPT = randomBytes(16).toString('hex');
const ENTERED = randomBytes(16).toString('hex');

const databases = postgresql();
let database: ReturnType<typeof connect>;
let world: World;
/** A server with an untrusted certificate. */
let attacker: Awaited<ReturnType<typeof listenHttp>>;
const received: string[] = [];

beforeAll(async () => {
  attacker = await listenHttp(
    (request, response) => {
      received.push(String(request.headers.authorization));
      request.resume().once('end', () => response.end('{"text":"Success","code":0}'));
    },
    '127.0.0.1',
    createCertificate('127.0.0.1'),
  );
  const url = await databases.url();
  database = connect(url);
  const environment = {
    DATABASE_URL: url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    EGRESS_ALLOW: '127.0.0.1/32',
    ENGINE: 'off',
  };
  world = await startWorld(environment, {}, '127.0.0.1');
});
afterAll(async () => {
  await world?.close();
  await Promise.all([database?.close(), attacker?.close()]);
  await databases.close();
});

const settings = (changes: object = {}) => ({ url: 'https://127.0.0.1', port: String(attacker.port), ...changes });

/** Creates an output with a secret, as a legitimate customer would. */
async function keep(given: object): Promise<string> {
  const config = { settings: given, secrets: { token: { value: KEPT } } };
  const { body } = await world.call('POST', `/v2/${world.team}/outputs`, { name: 'Kept', type: 'splunk', config });
  return String(body['id']);
}

async function openForm(browser: DrivenBrowser, existingId: string): Promise<{ page: DrivenPage; user: FrameUser }> {
  const page = await openHost(browser, world, { kind: 'output', typeId: 'splunk', existingId });
  const user = frameUser(page);
  await user.find({ role: 'button', name: 'Replace HEC token' });
  return { page, user };
}

async function enterAgain(user: FrameUser): Promise<void> {
  await user.type('HEC token', ENTERED);
}

inEngines('the form of a connector with a stored secret', ['Chromium'], ({ browser }) => {
  describe('S32: whose transport security was weakened', () => {
    test('asks for the secret again and sends nothing until then', async () => {
      const { page, user } = await openForm(browser(), await keep(settings()));
      await user.click({ selector: 'summary' });
      await user.click({ label: 'Accept any certificate' });
      received.splice(0);
      for (const button of ['Test connection', 'Save changes']) {
        await user.press(button);
        await user.says('Enter HEC token again');
      }
      expect(received).toEqual([]);
      await enterAgain(user);
      await user.press('Test connection');
      await expect.poll(() => received.join()).toContain(ENTERED);
      expect(received.join()).not.toContain(KEPT);
      await page.close();
    });
  });

  describe('S33: whose destination was changed in the database', () => {
    test('asks for the secret again and sends nothing until then', async () => {
      const id = await keep({ url: 'https://splunk.example.com', port: '8088' });
      const moved = JSON.stringify(settings({ allow_insecure: true }));
      await database.script((run) => run(`update connectors set settings = settings || '${moved}' where id = '${id}'`));
      const { page, user } = await openForm(browser(), id);
      received.splice(0);
      for (const button of ['Test connection', 'Save changes']) {
        await user.press(button);
        await user.says('Enter HEC token again');
      }
      expect(received).toEqual([]);
      await enterAgain(user);
      await user.press('Test connection');
      await expect.poll(() => received.join()).toContain(ENTERED);
      expect(received.join()).not.toContain(KEPT);
      await page.close();
    });
  });
});

test('a page with its own session cannot get a stored secret through a weaker transport (S32)', async () => {
  const id = await keep(settings());
  const session = await world.session();
  const call = async (method: string, path: string, body: object) => {
    const response = await fetch(`${world.service.url}/v2/${world.team}/outputs${path}`, {
      method,
      headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  };
  const config = { settings: settings({ allow_insecure: true }), secrets: {} };
  received.splice(0);
  for (const response of [
    await call('POST', '/test-connection', { type: 'splunk', config, id }),
    await call('PATCH', `/${id}`, { config }),
    await call('PUT', `/${id}`, { name: 'Kept', config }),
  ])
    expect(response).toMatchObject({ status: 422, body: { error_type: 'secret_reentry_required' } });
  expect(received).toEqual([]);
});
