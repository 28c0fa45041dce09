import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the range from which operating systems choose ports for outgoing connections and for
 * servers that listen on port 0. Linux starts at 32,768.
 */
const [FIRST, LAST] = [20_000, 32_000];

/**
 * Returns a port that is free on all addresses, for a server that can't listen on port 0. Between
 * this call and the start of that server, only another caller could take it, who also chooses at
 * random.
 * @param count number of adjacent ports that must be free, the returned one first
 */
export async function freePort(count = 1): Promise<number> {
  for (;;) {
    const first = randomInt(FIRST, LAST);
    const ports = Array.from({ length: count }, (_, offset) => first + offset);
    const free = await Promise.all(ports.map(isFree));
    if (!free.includes(false)) return first;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
