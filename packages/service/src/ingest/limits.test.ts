import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openIngestDoor, MIB, type IngestDoor } from '../../../../test/support/ingest-door.js';
import type { Ingested } from '../pipelines/engine.js';

let door: IngestDoor;
beforeAll(async () => {
  door = await openIngestDoor();
});
afterAll(() => door.close());
beforeEach(() => door.reset());

describe('bounds', () => {
  it('more than 8 MiB are refused, whether announced or not, packed or not', async () => {
    const large = Buffer.alloc(8 * MIB + 1, ' ');
    expect((await door.give(large)).status).toBe(413);
    expect((await door.give(large, { 'transfer-encoding': 'chunked' })).status).toBe(413);
    expect((await door.give(large, { 'content-encoding': 'gzip' })).status).toBe(413);
    expect((await door.give(Buffer.alloc(8 * MIB, ' '))).status).toBe(200);
  });

  it('a body that unpacks to more than 32 MiB is refused, and little of it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * MIB, ' '));
    const before = process.memoryUsage().rss;
    const answer = await door.give(bomb, { 'content-encoding': 'gzip' });
    expect([answer.status, answer.json.error]).toEqual([413, expect.stringContaining('32 MiB')]);
    expect(process.memoryUsage().rss - before).toBeLessThan(120 * MIB);
    expect((await door.give(gzipSync(Buffer.alloc(30 * MIB, ' ')), { 'content-encoding': 'gzip' })).status).toBe(200);
  });

  it('what is not what it says it is, is refused', async () => {
    expect((await door.give('{}', { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await door.give(gzipSync('{}').subarray(0, -4), { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await door.give('{}', { 'content-encoding': 'br' })).status).toBe(415);
  });

  it('limits the bytes in flight of one connector without slowing down the others', async () => {
    const other = await door.newInput('monad-http');
    const held: ((ingested: Ingested) => void)[] = [];
    door.engine.store = () => new Promise((resolve) => held.push(resolve));
    const many = Array.from({ length: 9 }, () => door.give(Buffer.alloc(8 * MIB - 1, ' ')));
    const first = await Promise.race(many);
    expect([first.status, first.json.error_type, first.headers['retry-after']]).toEqual([429, 'rate_limited', '1']);
    const calm = door.give('{}', {}, other);
    await expect.poll(() => door.engine.appended.some(({ connectorId }) => connectorId === other)).toBe(true);
    door.engine.store = () => Promise.resolve({ stored: true, tooLarge: [] });
    for (const release of held) release({ stored: true, tooLarge: [] });
    expect((await calm).status).toBe(200);
    const statuses = (await Promise.all(many)).map(({ status }) => status);
    // Several of the concurrent bodies may be refused.
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(4);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect((await door.give(Buffer.alloc(8 * MIB - 1, ' '))).status).toBe(200);
  });

  it('a sender that goes away in the middle leaves nothing behind', async () => {
    for (let round = 0; round < 12; round += 1) {
      const socket = connect(door.port, '127.0.0.1');
      socket.write(
        `POST /ingest/${door.http} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${door.tokens.of(door.http)}\r\n`,
      );
      socket.write(`Content-Length: ${8 * MIB}\r\n\r\n`);
      await new Promise((resolve) => socket.write(Buffer.alloc(7 * MIB, ' '), resolve));
      socket.destroy();
    }
    expect(door.engine.appended).toEqual([]);
    await expect.poll(async () => (await door.give(Buffer.alloc(8 * MIB, ' '))).status).toBe(200);
  });
});
