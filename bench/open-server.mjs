import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { nextMessage } from './processes.mjs';

/** Serves an app of this process to a client in another process. */
export async function openServer(app) {
  const server = createServer(getRequestListener(app.fetch));
  // On a busy machine, an idle connection must not close while the next request is in flight.
  server.keepAliveTimeout = 0;
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  const load = fork(new URL('load.mjs', import.meta.url));
  const send = async (calls, { path, ...request }) => {
    load.send({ url: `http://localhost:${server.address().port}${path}`, calls, ...request });
    await nextMessage(load);
  };
  return {
    /**
     * Returns the CPU time of this process per request in microseconds, as the operating system
     * accounts it.
     */
    async cost(calls, request) {
      const before = process.cpuUsage();
      await send(calls, request);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / calls;
    },
    /** Returns the milliseconds per request, with the time that the database takes. */
    async time(calls, request) {
      const before = performance.now();
      await send(calls, request);
      return (performance.now() - before) / calls;
    },
    close() {
      load.kill();
      server.closeAllConnections();
      server.close();
    },
  };
}
