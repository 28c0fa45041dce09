import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { DrivenBrowser } from './driven.js';
import { eventually } from './eventually.js';
import { webDriverPage } from './webdriver-page.js';
import { startSession } from './webdriver-session.js';

/**
 * Launches Debian's WebKitGTK: its driver (`webkit2gtk-driver`) and the MiniBrowser that comes with
 * the library, on a separate display (`xvfb`). Each page is a session with its own browser process,
 * because a browser's window is hidden when a newer one opens.
 * @param driverPath the program `WebKitWebDriver`
 */
export async function launchWebKit(driverPath: string): Promise<DrivenBrowser> {
  const display = await startDisplay();
  const closers = new Set<() => Promise<void>>();
  return {
    async newPage() {
      const driver = await startDriver(driverPath, display.name);
      const session = await startSession(driver.address).catch(async (error: unknown) => {
        await driver.stop();
        throw error;
      });
      const close = async (): Promise<void> => {
        if (!closers.delete(close)) return;
        // Ending a session fails if its browser has already exited.
        await session.end().catch(() => undefined);
        await driver.stop();
      };
      closers.add(close);
      return webDriverPage(session, close);
    },
    async close() {
      await Promise.all([...closers].map((close) => close()));
      await display.stop();
    },
  };
}

/**
 * Starts an X server on a display number that it picks itself, so that concurrent runs do not
 * collide.
 */
async function startDisplay(): Promise<{ name: string; stop(): Promise<void> }> {
  const options = ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'];
  const server = start('Xvfb', options, {}, ['ignore', 'ignore', 'ignore', 'pipe']);
  const ready = once(server.stdio[3] as NodeJS.ReadableStream, 'data').then(([number]) => String(number).trim());
  const number = await Promise.race([ready, failure(server, 'Xvfb')]);
  return { name: `:${number}`, stop: () => stop(server) };
}

/** Starts the driver on a port that the kernel picks. */
async function startDriver(path: string, display: string): Promise<{ address: string; stop(): Promise<void> }> {
  const environment = {
    DISPLAY: display,
    GDK_BACKEND: 'x11',
    // Xvfb has no GPU. With WEBKIT_DISABLE_DMABUF_RENDERER a screenshot never returns.
    WEBKIT_SKIA_ENABLE_CPU_RENDERING: '1',
    // There is no accessibility bus and no settings service; the browser would wait for them.
    NO_AT_BRIDGE: '1',
    GSETTINGS_BACKEND: 'memory',
  };
  const driver = start(path, ['--port=0', '--host=127.0.0.1'], environment, ['ignore', 'ignore', 'ignore']);
  const port = await Promise.race([
    eventually('the port of WebKitWebDriver', async () => listeningPort(driver.pid)),
    failure(driver, path),
  ]);
  return { address: `http://127.0.0.1:${port}`, stop: () => stop(driver) };
}

type Stdio = ('ignore' | 'pipe')[];

/** Starts a program that exits with this process, even when this process is killed. */
function start(program: string, args: string[], environment: Record<string, string>, stdio: Stdio): ChildProcess {
  return spawn('setpriv', ['--pdeathsig', 'TERM', program, ...args], {
    env: { ...process.env, ...environment },
    stdio,
  });
}

async function failure(child: ChildProcess, name: string): Promise<never> {
  const [reason] = await Promise.race([once(child, 'exit'), once(child, 'error')]);
  throw new Error(`${name} did not start: ${String(reason)}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}

/**
 * Returns the TCP port a process listens on, because the driver does not print it. Linux only, like
 * WebKitGTK here.
 */
function listeningPort(pid: number | undefined): number | undefined {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)));
  // Columns by index: 0 number, 1 local address, 2 remote address, 3 state (0A is LISTEN), 9 inode.
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state === '0A' && sockets.has(`socket:[${inode}]`)) return Number.parseInt(local.split(':')[1] ?? '', 16);
  }
  return undefined;
}
