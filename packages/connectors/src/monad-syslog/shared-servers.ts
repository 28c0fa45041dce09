import type { ConnectorContext, ListenAt, Sink } from '@connector-frame/engine/connector-api';
import { SyslogServer } from './syslog-server.js';

/**
 * Servers by address and port. Pipelines with the same input share one, because a port can only be
 * opened once.
 */
const servers = new Map<string, SyslogServer>();
/**
 * Serializes opening and closing per port: recreating a pipeline closes its predecessor, which must
 * release the port first.
 */
const turns = new Map<string, Promise<unknown>>();

/**
 * Adds a pipeline to the server on a port, and opens the server if necessary.
 *
 * @returns a function that removes the pipeline again
 * @throws ConnectorError
 */
export async function joinServer(
  at: ListenAt,
  clock: ConnectorContext['clock'],
  fingerprints: ReadonlySet<string>,
  sink: Sink,
): Promise<() => Promise<void>> {
  const key = `${at.host} ${at.port}`;
  await inTurn(key, async () => {
    let server = servers.get(key);
    if (!server) {
      server = new SyslogServer({ at, clock });
      // Join before opening, so that the first messages are not lost.
      server.join(sink);
      server.fingerprints = fingerprints;
      await server.open();
      servers.set(key, server);
    } else {
      server.fingerprints = fingerprints;
      server.join(sink);
    }
  });
  return () =>
    inTurn(key, async () => {
      if ((await servers.get(key)?.leave(sink)) === false) servers.delete(key);
    });
}

function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const done = (turns.get(key) ?? Promise.resolve()).then(work);
  const settled = done.catch(() => undefined).finally(() => turns.get(key) === settled && turns.delete(key));
  turns.set(key, settled);
  return done;
}
