import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('serve.mjs', import.meta.url));

/** The service and the demo in a separate process, which a restart replaces. */
export function createServing() {
  let child;
  /** The ports of the first start, so that a restart keeps them even if they were `0`. */
  let ports = {};

  async function stop() {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }

  return {
    stop,

    /** Starts the process, in place of the running one. Resolves with both URLs once it is ready. */
    async start() {
      await stop();
      child = fork(program, { env: { ...process.env, ...ports }, execArgv: [] });
      const started = await new Promise((resolve, reject) => {
        child.once('message', resolve);
        child.once('exit', (code) => reject(new Error(`The service ended with ${code}. Its output above says why.`)));
      });
      ports = { HOST_PORT: new URL(started.hostUrl).port, SERVICE_PORT: new URL(started.serviceUrl).port };
      return started;
    },
  };
}
