import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimes } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { launchBrowser } from '../support/browser.js';
import { newDataFolder } from '../support/data-folder.js';
import { long } from '../support/long.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const startDev = pathToFileURL(`${root}scripts/lib/dev/start-dev.mjs`).href;

// What `npm run dev` does after the build. `disconnect` stops it with this process.
const program = `
  import { startDev } from '${startDev}';
  const dev = await startDev();
  process.once('disconnect', () => void dev.close().then(() => process.exit(0)));
  console.log('ready ' + dev.hostUrl);
`;

test.runIf(long)(
  'after a source of the service was written, the service restarts and the page reloads',
  async () => {
    const data = await newDataFolder('dev');
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd: root,
      env: { ...process.env, DATA_DIR: data, HOST_PORT: '0', SERVICE_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const printed: string[] = [];
    if (!child.stdout) throw new Error('The process has no output');
    createInterface({ input: child.stdout }).on('line', (line) => printed.push(line));
    onTestFinished(async () => {
      if (child.exitCode === null) {
        child.disconnect();
        await once(child, 'exit');
      }
    });
    const urlOf = (): string | undefined => printed.find((line) => line.startsWith('ready '))?.slice('ready '.length);
    const isReadyOrGone = (): boolean => urlOf() !== undefined || child.exitCode !== null;
    await expect.poll(isReadyOrGone, { timeout: 150_000 }).toBe(true);
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}:\n${printed.join('\n')}`);

    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) complaints.push(message.text());
    });
    // The page asks from now on which process runs.
    const asked = page.waitForResponse('**/dev-version.js');
    await page.goto(`${urlOf()}/script/`);
    await asked;
    const reloaded = page.waitForEvent('load', { timeout: 150_000 });
    const now = new Date();
    await utimes(`${root}packages/service/src/log.ts`, now, now);
    await reloaded;

    expect(printed.join('\n')).toContain('Changed: packages/service/src/log.ts');
    expect(await page.getByRole('button', { name: /Acme/ }).isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  },
  400_000,
);
