import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openListener, type HttpListener } from './http-listener.js';

let listener: HttpListener | undefined;
afterEach(async () => listener?.drain());

/** Sends part of a request and returns everything received until the connection closes. */
function half(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    socket.on('error', reject).on('close', () => resolve(answer));
  });
}

const patience = { headers: 300, request: 600, shutdown: 500 };

describe('openListener', () => {
  it('times out incomplete requests (S28)', async () => {
    listener = await openListener(0, '127.0.0.1', patience);
    listener.serve((request, response) => {
      request.resume().on('end', () => response.end('all of it'));
    });
    const { port } = listener;
    const halves = await Promise.all([
      half(port, 'GET / HT'),
      half(port, 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: '),
      half(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc'),
      half(port, `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`),
    ]);
    expect(halves.map((answer) => answer.split('\r\n')[0])).toEqual([
      'HTTP/1.1 408 Request Timeout',
      'HTTP/1.1 408 Request Timeout',
      'HTTP/1.1 408 Request Timeout',
      'HTTP/1.1 431 Request Header Fields Too Large',
    ]);
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('all of it');
  });

  it('responds with 503 and Retry-After until a handler is set', async () => {
    listener = await openListener(0, '127.0.0.1', patience);
    const { status, headers } = await fetch(`http://127.0.0.1:${listener.port}`);
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('names SERVICE_PORT in the error if the port is in use', async () => {
    listener = await openListener(0, '127.0.0.1', patience);
    await expect(openListener(listener.port, '127.0.0.1')).rejects.toThrow('SERVICE_PORT');
  });

  it('limits the time it waits for requests in progress', async () => {
    listener = await openListener(0, '127.0.0.1', patience);
    listener.serve(() => undefined);
    const never = fetch(`http://127.0.0.1:${listener.port}`).catch(() => 'cut off');
    await half(listener.port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: nonsense\r\n\r\n');
    await listener.drain();
    listener = undefined;
    expect(await never).toBe('cut off');
  });
});
