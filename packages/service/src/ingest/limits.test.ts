import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startIngestListener, MIB, type IngestListener } from '../../../../test/support/ingest-listener.js';
import type { Ingested } from '../pipelines/engine.js';

let listener: IngestListener;
beforeAll(async () => {
  listener = await startIngestListener();
});
afterAll(() => listener.close());
beforeEach(() => listener.reset());

describe('limits', () => {
  it('rejects more than 8 MiB, with and without a length, compressed or not', async () => {
    const large = Buffer.alloc(8 * MIB + 1, ' ');
    expect((await listener.send(large)).status).toBe(413);
    expect((await listener.send(large, { 'transfer-encoding': 'chunked' })).status).toBe(413);
    expect((await listener.send(large, { 'content-encoding': 'gzip' })).status).toBe(413);
    expect((await listener.send(Buffer.alloc(8 * MIB, ' '))).status).toBe(200);
  });

  it('rejects a body of more than 32 MiB decompressed, and decompresses little of it', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * MIB, ' '));
    const before = process.memoryUsage().rss;
    const answer = await listener.send(bomb, { 'content-encoding': 'gzip' });
    expect([answer.status, answer.json.error]).toEqual([413, expect.stringContaining('32 MiB')]);
    expect(process.memoryUsage().rss - before).toBeLessThan(120 * MIB);
    expect((await listener.send(gzipSync(Buffer.alloc(30 * MIB, ' ')), { 'content-encoding': 'gzip' })).status).toBe(
      200,
    );
  });

  it('rejects a body that does not match its Content-Encoding', async () => {
    expect((await listener.send('{}', { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await listener.send(gzipSync('{}').subarray(0, -4), { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await listener.send('{}', { 'content-encoding': 'br' })).status).toBe(415);
  });

  it('limits the bytes in flight of one connector without slowing down the others', async () => {
    const other = await listener.newInput('monad-http');
    const held: ((ingested: Ingested) => void)[] = [];
    listener.engine.store = () => new Promise((resolve) => held.push(resolve));
    const many = Array.from({ length: 9 }, () => listener.send(Buffer.alloc(8 * MIB - 1, ' ')));
    const first = await Promise.race(many);
    expect([first.status, first.json.error_type, first.headers['retry-after']]).toEqual([429, 'rate_limited', '1']);
    const calm = listener.send('{}', {}, other);
    await expect.poll(() => listener.engine.appended.some(({ connectorId }) => connectorId === other)).toBe(true);
    listener.engine.store = () => Promise.resolve({ stored: true, tooLarge: [] });
    for (const release of held) release({ stored: true, tooLarge: [] });
    expect((await calm).status).toBe(200);
    const statuses = (await Promise.all(many)).map(({ status }) => status);
    // Several of the concurrent bodies may be refused.
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(4);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect((await listener.send(Buffer.alloc(8 * MIB - 1, ' '))).status).toBe(200);
  });

  it('keeps nothing of a sender that disconnects in the middle of a request', async () => {
    for (let round = 0; round < 12; round += 1) {
      const socket = connect(listener.port, '127.0.0.1');
      socket.write(
        `POST /ingest/${listener.http} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${listener.tokens.of(listener.http)}\r\n`,
      );
      socket.write(`Content-Length: ${8 * MIB}\r\n\r\n`);
      await new Promise((resolve) => socket.write(Buffer.alloc(7 * MIB, ' '), resolve));
      socket.destroy();
    }
    expect(listener.engine.appended).toEqual([]);
    await expect.poll(async () => (await listener.send(Buffer.alloc(8 * MIB, ' '))).status).toBe(200);
  });
});
