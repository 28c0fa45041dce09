import { eventually } from '../engines/eventually.js';
import type { HostPage } from '../open-host.js';
import { logRequests, type RequestLog } from '../request-log.js';
import { installRecorder, type Observation } from './recorder.js';

/** Everything that a host page and its servers observed, by channel and in order, without times. */
export type HostTrace = Record<string, string[]>;

export interface HostTracer {
  /** Waits until the page is quiet, then forgets what it observed so far. */
  start(): Promise<void>;
  /**
   * Waits until the page has observed nothing new in ten animation frames, and no server has a request open. Between steps
   * that change the frame's size, as an animation frame may fall between two changes or not.
   */
  settled(): Promise<void>;
  /** Waits until the page is quiet. Returns what it observed since `start`: equal traces were the same to the page. */
  trace(): Promise<HostTrace>;
  /**
   * Observations that differ from run to run with the load of the machine, such as long tasks. They are in no trace; what
   * they name can still be looked at.
   */
  timing(): Promise<Observation[]>;
  /** Stops recording the requests of the servers. */
  stop(): void;
}

/**
 * Makes an open page record what a hostile script in it could observe.
 * @param options.servers origins whose requests the attacker sees: the host's own, and further ones
 * @param options.iframe selector of the iframe, also in open shadow roots
 * @example
 * const tracer = await traceHost(page, { servers: [world.host] });
 * await user.focus({ label: 'API token' });
 * await tracer.start();
 * await page.keyboard.type(secret);
 * const trace = await tracer.trace();
 */
export async function traceHost(
  page: HostPage,
  { servers, iframe = 'iframe' }: { servers: string[]; iframe?: string },
): Promise<HostTracer> {
  let log: RequestLog = logRequests();
  await page.evaluate(installRecorder, iframe);
  const settled = async (): Promise<void> => {
    await eventually('a quiet page', async () => {
      await page.evaluate(() => hostRecorder.settled());
      return log.open() === 0 || undefined;
    });
  };
  return {
    settled,
    async start() {
      await settled();
      log.stop();
      log = logRequests();
      await page.evaluate(() => hostRecorder.start());
    },
    async trace() {
      await settled();
      const { observations } = await page.evaluate(() => hostRecorder.recording());
      const trace: HostTrace = {};
      for (const [channel, value] of observations) (trace[channel] ??= []).push(value);
      for (const server of servers) {
        const requests = log.to(server).map(({ method, path, headers: { referer } }) => `${method} ${path} ${referer}`);
        if (requests.length > 0) trace[`requests to ${server}`] = requests;
      }
      return trace;
    },
    timing: async () => (await page.evaluate(() => hostRecorder.recording())).timing,
    stop: () => log.stop(),
  };
}

/** The channels in which two traces differ. Empty: a page could not tell them apart. */
export function differences(one: HostTrace, other: HostTrace): string[] {
  const channels = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return channels.filter((channel) => JSON.stringify(one[channel]) !== JSON.stringify(other[channel]));
}
