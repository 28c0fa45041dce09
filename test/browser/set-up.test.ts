/**
 * What the form shows to be set up at a vendor: the real form in its frame, of another site than the
 * page, and the real service, which has no identity at AWS.
 */
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readSnowflake } from '../../packages/connectors/src/snowflake/config.js';
import { axeViolations } from '../support/axe-violations.js';
import { launchBrowser } from '../support/browser.js';
import { messages, mount, openPage } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';

const TEMPLATE_URL = 'https://acme-templates.s3.eu-west-1.amazonaws.com/role.json';

let browser: Browser;
let world: World;
let context: BrowserContext;
let page: Page;
let form: FrameLocator;

beforeAll(async () => {
  [browser, world] = await Promise.all([
    launchBrowser(),
    startWorld({ AWS_TEMPLATE_URL: TEMPLATE_URL }, {}, '127.0.0.1'),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
});
afterEach(() => context?.close());

/** Opens the form of a type in a narrow page, and its section with the keyboard. */
async function open(
  kind: 'input' | 'output',
  typeId: string,
  { account, ...options }: { account?: string; appearance?: object } = {},
): Promise<void> {
  context = await browser.newContext({ viewport: { width: 320, height: 900 } });
  page = await openPage({ newPage: () => context.newPage() }, world);
  if (account !== undefined)
    // As `packages/service/src/routes/aws.test.ts` has it from a service with an identity.
    await page.route('**/v1/*/aws', async (route) => {
      const response = await route.fetch();
      const trust_policy = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole' }] };
      await route.fulfill({
        response,
        json: { ...(await response.json()), account_id: account, partition: 'aws', trust_policy },
      });
    });
  await mount(page, world, { kind, typeId, ...options });
  form = page.frameLocator('iframe');
}

const openSection = (title: string): Promise<void> => form.getByText(title, { exact: true }).press('Enter');
const text = (title: string): Promise<string> => form.getByLabel(title, { exact: true }).inputValue();
const violations = async (): Promise<string[]> => {
  const [, frame] = page.frames();
  return frame ? axeViolations(frame) : ['no frame'];
};

describe('a role at AWS', () => {
  test('is not promised by a service without an identity', async () => {
    await open('input', 's3');
    await openSection('Create the role in AWS');
    await form.getByText('This service can’t assume roles at AWS: its operator has not set that up.').waitFor();
    expect(await form.getByRole('button', { name: /^Copy/ }).count()).toBe(0);
    expect(await violations()).toEqual([]);
  });

  test('has policies with what was entered, and a link to CloudFormation', async () => {
    await open('input', 's3', { account: '999988887777', appearance: { colorBackground: '#101418' } });
    await openSection('Create the role in AWS');
    expect(await text('AWS account to trust')).toBe('999988887777');
    const { body } = await world.call('GET', `/v1/${world.team}/aws`);
    expect(await text('External ID')).toBe(body['external_id']);
    const permissions = async (): Promise<unknown> => JSON.parse(await text('Permissions policy of the role'));
    const allow = (Action: string, Resource: string) => ({ Effect: 'Allow', Action: [Action], Resource: [Resource] });
    const policy = (bucket: string, prefix = '') => ({
      Version: '2012-10-17',
      Statement: [
        allow('s3:ListBucket', `arn:aws:s3:::${bucket}`),
        allow('s3:GetObject', `arn:aws:s3:::${bucket}/${prefix}*`),
      ],
    });
    expect(await permissions()).toEqual(policy('<bucket>'));
    await form.getByLabel('Bucket').fill('acme-logs');
    await form.getByLabel('Prefix').fill('app/');
    await form.getByLabel('Region').fill('eu-central-1');
    await expect.poll(permissions).toEqual(policy('acme-logs', 'app/'));

    const link = form.getByRole('link', { name: 'Create the role with CloudFormation' });
    const url = new URL((await link.getAttribute('href')) ?? '');
    expect(`${url.host} ${url.search}`).toBe('console.aws.amazon.com ?region=eu-central-1');
    const query = new URLSearchParams(url.hash.split('?')[1]);
    expect([query.get('templateURL'), query.get('param_Resources2')]).toEqual([
      TEMPLATE_URL,
      'arn:aws:s3:::acme-logs/app/*',
    ]);
    expect(await violations()).toEqual([]);
  });

  test('can be copied by keyboard, whether or not the page lets the frame write to the clipboard', async () => {
    await open('input', 's3', { account: '999988887777' });
    await openSection('Create the role in AWS');
    await form.getByRole('button', { name: 'Copy: External ID' }).press('Enter');
    await form.getByRole('status').getByText('Copied').waitFor();
    await form.getByLabel('Bucket').focus();
    await page.keyboard.press('Control+v');
    expect(await form.getByLabel('Bucket').inputValue()).toBe(await text('External ID'));
  });
});

describe('a key pair', () => {
  const STATEMENT = 'Run in a worksheet';
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const statement = (user: string, key: string): string => `ALTER USER ${user} SET RSA_PUBLIC_KEY='${key}';`;

  test('has the public key of what was pasted, and the page learns nothing', async () => {
    await open('input', 'snowflake');
    await openSection('Register the public key in Snowflake');
    await form.getByLabel('User', { exact: true }).fill('LOG_SERVICE');
    expect(await text(STATEMENT)).toBe(statement('LOG_SERVICE', '<public_key>'));
    const key = form.getByLabel('Private key', { exact: true });
    await key.fill('-----BEGIN PRIVATE KEY-----\nnone\n-----END PRIVATE KEY-----');
    const before = await messages(page);
    await key.fill(pem);
    const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    await expect.poll(() => text(STATEMENT)).toBe(statement('LOG_SERVICE', spki));
    expect(await messages(page)).toEqual(before);
    const [, frame] = page.frames();
    // What a style sheet of the page can select.
    expect(await frame?.evaluate(() => document.documentElement.outerHTML)).not.toContain(spki.slice(0, 40));
    await key.fill('x');
    await expect.poll(() => text(STATEMENT)).toBe(statement('LOG_SERVICE', '<public_key>'));
    expect(await violations()).toEqual([]);
  });

  test('can be created, and signs in to Snowflake', async () => {
    await open('output', 'snowflake');
    await openSection('Register the public key in Snowflake');
    await form.getByLabel('User', { exact: true }).fill('log_service');
    await form.getByRole('button', { name: 'Create a key pair' }).press('Enter');
    await form.getByText('Created. The private key is in the field above, and is not shown.').waitFor();
    await expect.poll(() => text(STATEMENT)).not.toContain('<');
    const [, shown = ''] = /RSA_PUBLIC_KEY='([^']+)'/.exec(await text(STATEMENT)) ?? [];
    const key = form.getByLabel('Private key', { exact: true });
    expect(await key.evaluate((control) => control.classList.contains('masked'))).toBe(true);

    const settings = { account: 'acme-prod', user: 'log_service' };
    const target = readSnowflake({ settings, secrets: { private_key: await key.inputValue() } });
    if ('ok' in target || target.signIn.kind !== 'key') throw new Error('The key was not accepted.');
    const fingerprint = createHash('sha256').update(Buffer.from(shown, 'base64')).digest('base64');
    expect(target.signIn.issuer).toBe(`ACME-PROD.LOG_SERVICE.SHA256:${fingerprint}`);
    expect(createPublicKey(target.signIn.key).export({ type: 'spki', format: 'der' }).toString('base64')).toBe(shown);
  });
});

test('a service account gets its role by a command without its key', async () => {
  await open('input', 'google-cloud-pubsub');
  await openSection('Grant the role in Google Cloud');
  await form.getByLabel('Project ID').fill('acme-prod-4711');
  await form.getByLabel('Subscription ID').fill('security-logs-sub');
  const key = { client_email: 'reader@acme-prod-4711.iam.gserviceaccount.com', private_key: 'canary' };
  await form.getByLabel('Service account key', { exact: true }).fill(JSON.stringify(key));
  await expect
    .poll(() => text('Run in Cloud Shell'))
    .toBe(
      'gcloud pubsub subscriptions add-iam-policy-binding security-logs-sub --project=acme-prod-4711 --member=serviceAccount:reader@acme-prod-4711.iam.gserviceaccount.com --role=roles/pubsub.subscriber',
    );
});
