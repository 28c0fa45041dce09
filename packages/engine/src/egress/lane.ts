import type { Socket } from 'node:net';
import { Client, type buildConnector } from 'undici';
import { EgressError } from './error.js';

/** Milliseconds a connection is kept with nothing to do. Shorter than most servers keep theirs. */
const IDLE_MS = 4_000;

/** One connection of HTTP, for one request after the other. It is never opened a second time. */
export interface Lane {
  readonly client: Client;
  /** Requests it has carried before the one under way. */
  used: number;
  /** Bytes of answers that came over it. */
  heard(): number;
  /** Ends it, and what is under way on it. */
  end(): void;
}

/** @param onEnd called once, when there is no connection any more */
export function openLane(origin: string, open: () => Promise<Socket>, onEnd: (lane: Lane) => void): Lane {
  let opening: Promise<Socket> | undefined;
  let socket: Socket | undefined;
  const client = new Client(origin, {
    // A client that may open another connection would repeat what was sent, past the count of tries.
    connect: (_target, callback) => {
      const first = opening === undefined;
      opening = first ? open() : Promise.reject(new EgressError('connect_failed', 'connection lost'));
      void handOver(opening, callback, (opened) => (socket = opened));
    },
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxHeaderSize: 16 * 1024,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const lane: Lane = {
    client,
    used: 0,
    heard: () => socket?.bytesRead ?? 0,
    end: () => {
      onEnd(lane);
      client.destroy().catch(() => undefined);
    },
  };
  client.once('disconnect', () => lane.end());
  return lane;
}

async function handOver(
  opening: Promise<Socket>,
  callback: buildConnector.Callback,
  keep: (socket: Socket) => void,
): Promise<void> {
  let socket: Socket;
  try {
    socket = await opening;
  } catch (error) {
    callback(error instanceof Error ? error : new Error('stopped'), null);
    return;
  }
  keep(socket);
  callback(null, socket);
}
