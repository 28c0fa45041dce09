import type { Socket } from 'node:net';
import { openLane, type Lane } from './lane.js';

/** Maximum idle connections: per destination, and in total. Connections in use are not limited. */
const MAX_IDLE_PER_PLACE = 8;
const MAX_IDLE = 64;

/**
 * The destination of a connection and its TLS settings. Connections are only reused for the same
 * ones.
 */
export interface Place {
  url: URL;
  verifyTls: boolean;
  ca: string | undefined;
}

/** Opens a socket to a destination, with TLS if the scheme requires it. */
export type OpenPlace = (place: Place, signal: AbortSignal) => Promise<Socket>;

export interface Pool {
  /** Returns the most recently used idle connection to the destination, or `undefined`. */
  take(place: Place): Lane | undefined;
  /** Opens a new connection, which passes the address check. `signal` aborts connecting. */
  open(place: Place, signal: AbortSignal): Lane;
  /** Returns a connection to the pool for reuse. */
  giveBack(lane: Lane, place: Place): void;
  /** Closes all connections. */
  close(): void;
}

export function createPool(openPlace: OpenPlace): Pool {
  const all = new Set<Lane>();
  /** Idle connections, the longest idle first. */
  let idle: { lane: Lane; key: string }[] = [];
  const ended = (lane: Lane): void => {
    all.delete(lane);
    idle = idle.filter((each) => each.lane !== lane);
  };
  return {
    take(place) {
      const key = keyOf(place);
      const found = idle.findLast((each) => each.key === key);
      if (!found) return undefined;
      idle = idle.filter((each) => each !== found);
      found.lane.used += 1;
      return found.lane;
    },
    open(place, signal) {
      const lane = openLane(place.url.origin, () => openPlace(place, signal), ended);
      all.add(lane);
      return lane;
    },
    giveBack(lane, place) {
      // It may have been closed in the meantime.
      if (!all.has(lane)) return;
      const key = keyOf(place);
      idle.push({ lane, key });
      const there = idle.filter((each) => each.key === key);
      const over = there.length > MAX_IDLE_PER_PLACE ? there[0] : idle.length > MAX_IDLE ? idle[0] : undefined;
      over?.lane.end();
    },
    close() {
      for (const lane of all) lane.end();
    },
  };
}

const keyOf = ({ url, verifyTls, ca = '' }: Place): string => `${url.origin} ${verifyTls} ${ca}`;
