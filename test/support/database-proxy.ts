import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

/** A TCP proxy in front of a database server, which a test can take away. */
export interface DatabaseProxy {
  /** Connection URL through the proxy. */
  readonly url: string;
  /** Forwards again. */
  restore(): Promise<void>;
  /** Resets all connections, and refuses new ones. */
  refuse(): Promise<void>;
  /**
   * Forwards nothing more, and accepts new connections without a response, like a network that
   * drops packets.
   */
  stall(): void;
  /** Resets all connections once. */
  reset(): void;
  /** Number of open connections. */
  connections(): number;
  /** Number of connections accepted so far. */
  accepted(): number;
  close(): Promise<void>;
}

/** @param url of the database server */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url);
  const pairs = new Set<Socket>();
  let isStalled = false;
  let accepted = 0;

  function serve(socket: Socket): void {
    pairs.add(socket);
    accepted += 1;
    socket.on('error', () => undefined).once('close', () => pairs.delete(socket));
    if (isStalled) return void socket.pause();
    const inner = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [socket, inner],
      [inner, socket],
    ] as const)
      from
        .on('error', () => undefined)
        .on('close', () => to.destroy())
        .on('data', (chunk) => {
          // Drops what arrives: a network without a route does not deliver it later.
          if (!isStalled) to.write(chunk);
        });
  }

  const listen = async (port: number): Promise<Server> => {
    const server = createServer(serve).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server: Server | undefined = await listen(0);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a TCP port
  const { port } = server.address() as AddressInfo;
  const through = new URL(url);
  through.port = String(port);

  const reset = (): void => pairs.forEach((socket) => socket.resetAndDestroy());
  const close = async (): Promise<void> => {
    reset();
    const closing = server;
    server = undefined;
    if (closing) await new Promise((resolve) => closing.close(resolve));
  };
  return {
    url: through.href,
    async restore() {
      if (isStalled) reset();
      isStalled = false;
      server ??= await listen(port);
    },
    refuse: close,
    stall() {
      isStalled = true;
    },
    reset,
    connections: () => pairs.size,
    accepted: () => accepted,
    close,
  };
}
