import type { ConnectorContext, ListenAt } from '../connector-code.js';
import type { Sink } from '../../runner/ends.js';
import { SyslogServer } from './syslog-server.js';

/** A port can be opened once; several pipelines may have the same input. By address and port. */
const servers = new Map<string, SyslogServer>();
/** Opening and closing, one after the other by port: a pipeline is made again by closing the one before. */
const turns = new Map<string, Promise<unknown>>();

/** Listens at a port for one more pipeline. @returns what ends that @throws EndError */
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
      // Before it is open: what comes first must find a way in.
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
