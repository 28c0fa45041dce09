import { eventually } from '../engines/eventually.js';
import type { HostPage } from '../open-host.js';
import { logRequests, type RequestLog } from '../request-log.js';
import { installRecorder, type Observation } from './recorder.js';

/** Everything a host page and its servers observed, by channel and in order, without timestamps. */
export type HostTrace = Record<string, string[]>;

export interface HostTracer {
  /** Waits until the page is quiet, then discards the observations so far. */
  start(): Promise<void>;
  /**
   * Waits until the page has observed nothing new in ten animation frames and no request is
   * pending. Call it between steps that change the frame's size: an animation frame may or may not
   * fall between two changes.
   */
  settled(): Promise<void>;
  /**
   * Waits until the page is quiet. Returns the observations since `start`; equal traces are
   * indistinguishable to the page.
   */
  trace(): Promise<HostTrace>;
  /**
   * Returns observations that vary with the load of the machine, such as long tasks. They are not
   * part of a trace, but the names in them can still be checked.
   */
  timing(): Promise<Observation[]>;
  /** Stops recording the requests of the servers. */
  stop(): void;
}

/**
 * Makes an open page record what a hostile script in it could observe.
 * @param options.servers origins whose requests the attacker sees: the host's own, and others
 * @param options.iframe selector of the iframe, including in open shadow roots
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

/** Returns the channels in which two traces differ. If empty, a page can't tell them apart. */
export function differences(one: HostTrace, other: HostTrace): string[] {
  const channels = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return channels.filter((channel) => JSON.stringify(one[channel]) !== JSON.stringify(other[channel]));
}
