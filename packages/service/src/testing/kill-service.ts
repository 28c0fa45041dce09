import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Customer } from './customer.js';
import { startReceiver } from './receiver.js';
import { callerOf, startChild } from './service-child.js';
import { addUp, type ServiceKills } from './service-kills.js';

const KEY = 'an-operators-own-key-0123456789';

/**
 * Repeatedly kills a service that runs pipelines, and compares what arrived with what it had
 * acknowledged.
 * @param environment variables of the service; they override the ones set here
 * @param maxWorkMs milliseconds of work before a kill, at most
 * @param file entry of the service
 */
export async function killService(
  kills: number,
  random: () => number,
  environment: Readonly<Record<string, string>> = {},
  maxWorkMs = 1_000,
  file?: string,
): Promise<ServiceKills> {
  const folder = await mkdtemp(join(tmpdir(), 'kill-service-'));
  const receiver = await startReceiver();
  const variables = {
    DATA_DIR: join(folder, 'data'),
    FILE_OUTPUT_DIR: join(folder, 'files'),
    EGRESS_ALLOW: '127.0.0.1/32',
    BOOTSTRAP_ORGANIZATION: 'Northwind',
    SERVICE_API_KEY: KEY,
    RATE_LIMIT_KEY: 'off',
    RATE_LIMIT_ORGANIZATION: 'off',
    ...environment,
  };
  const customer = new Customer();
  let quickestStart = Number.POSITIVE_INFINITY;
  try {
    for (let cycle = 0; cycle < kills; cycle += 1) {
      const child = startChild(variables, file);
      // Sometimes kill it during startup.
      if (cycle > 1 && random() < 0.15) {
        await sleep(300 + random() * 1_500);
        child.kill('SIGKILL');
        await child.ended;
        continue;
      }
      const url = await child.url;
      if (url === undefined) throw new Error(`The service did not start: ${(await child.ended).stderr}`);
      quickestStart = Math.min(quickestStart, await child.startedIn);
      const call = callerOf(url, KEY);
      if (!customer.input) await customer.setUp(call, receiver);
      const work = customer.work(call, url);
      const expected = customer.acknowledged.length + random() * 600;
      const started = Date.now();
      // A run in which nothing was acknowledged would prove nothing, so a slow machine gets more time.
      const limit = (): number => (customer.acknowledged.length === 0 ? Math.max(maxWorkMs, 30_000) : maxWorkMs);
      while (customer.acknowledged.length < expected && Date.now() < started + limit()) await sleep(5);
      await sleep(random() * 50);
      child.kill('SIGKILL');
      await child.ended;
      await work.stop();
    }
    await drain(variables, customer, file);
    return { kills, quickestStart: Math.round(quickestStart), ...(await addUp(variables, customer, receiver)) };
  } finally {
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Starts the service without new records, waits until everything is delivered, and shuts it down.
 */
async function drain(
  variables: Readonly<Record<string, string>>,
  customer: Customer,
  file: string | undefined,
): Promise<void> {
  const child = startChild(variables, file);
  const url = await child.url;
  if (url === undefined) throw new Error(`The service did not start: ${(await child.ended).stderr}`);
  const call = callerOf(url, KEY);
  const at = (id: string) => `/v2/${customer.org}/pipelines/${id}`;
  await call('PATCH', at(customer.pipelines.paged), { enabled: false });
  const expected = {
    [customer.pipelines.http]: 'Running',
    [customer.pipelines.file]: 'Running',
    [customer.pipelines.paged]: 'Disabled',
  };
  for (const [id, status] of Object.entries(expected)) {
    for (const late = Date.now() + 60_000; ; await sleep(50)) {
      const state = await call('GET', `${at(id)}/status`);
      if (state?.['status'] === status && state['waiting'] === 0) break;
      if (Date.now() > late) throw new Error(`A pipeline did not drain: ${JSON.stringify(state)}`);
    }
  }
  child.kill('SIGTERM');
  const { code, stderr } = await child.ended;
  if (code !== 0) throw new Error(`The service did not exit cleanly (${code}): ${stderr}`);
}
