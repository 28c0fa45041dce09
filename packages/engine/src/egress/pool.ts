import type { Socket } from 'node:net';
import { openLane, type Lane } from './lane.js';

/** Connections that wait for work: for one place, and in all. Those at work are as many as there are requests. */
const MAX_IDLE_PER_PLACE = 8;
const MAX_IDLE = 64;

/** Where a connection leads, and what was asked of it when it was made. */
export interface Place {
  url: URL;
  verifyTls: boolean;
  ca: string | undefined;
}

/** A connected socket to a place, with TLS on it when the scheme asks for it. */
export type OpenPlace = (place: Place, signal: AbortSignal) => Promise<Socket>;

export interface Pool {
  /** One that waits there, the latest used, or `undefined`. */
  take(place: Place): Lane | undefined;
  /** A new one, which goes through the guard. `signal` ends the dialling. */
  open(place: Place, signal: AbortSignal): Lane;
  /** Has done its work, and may do more. */
  giveBack(lane: Lane, place: Place): void;
  /** Ends all of them. */
  close(): void;
}

export function createPool(openPlace: OpenPlace): Pool {
  const all = new Set<Lane>();
  /** Those that wait, the longest waiting first. */
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
      // It may have ended in the meantime.
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
