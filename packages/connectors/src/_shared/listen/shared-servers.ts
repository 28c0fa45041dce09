import type { ListenAt, Sink } from '@connector-frame/engine/connector-api';

/** A server on one port that delivers to every pipeline that has joined it. */
export interface SharedServer {
  open(): Promise<unknown>;
  join(sink: Sink): void;
  /** Removes a pipeline. Returns whether others are left; without any, the server is closed. */
  leave(sink: Sink): Promise<boolean>;
}

/**
 * Servers by address and port. Pipelines with the same input share one, because a port can only be
 * opened once.
 */
const servers = new Map<string, SharedServer>();
/**
 * Serializes opening and closing per port: recreating a pipeline closes its predecessor, which must
 * release the port first.
 */
const pending = new Map<string, Promise<unknown>>();

/**
 * Adds a pipeline to the server on a port, and opens the server if necessary.
 *
 * @param create creates the server
 * @param configure applies the settings of this pipeline's input
 * @returns a function that removes the pipeline again
 * @throws ConnectorError
 */
export async function joinServer<S extends SharedServer>(
  at: ListenAt,
  create: () => S,
  configure: (server: S) => void,
  sink: Sink,
): Promise<() => Promise<void>> {
  const key = `${at.host} ${at.port}`;
  await serialize(key, async () => {
    // A port belongs to one connector, so its server has the class that this connector creates.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the reason above
    const known = servers.get(key) as S | undefined;
    const server = known ?? create();
    configure(server);
    // Join before opening, so that the first messages are not lost.
    server.join(sink);
    if (known) return;
    await server.open();
    servers.set(key, server);
  });
  return () =>
    serialize(key, async () => {
      if ((await servers.get(key)?.leave(sink)) === false) servers.delete(key);
    });
}

function serialize<T>(key: string, work: () => Promise<T>): Promise<T> {
  const done = (pending.get(key) ?? Promise.resolve()).then(work);
  const settled = done.catch(() => undefined).finally(() => pending.get(key) === settled && pending.delete(key));
  pending.set(key, settled);
  return done;
}
