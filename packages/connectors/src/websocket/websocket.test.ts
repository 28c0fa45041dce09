import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createCertificate } from '../../../../test/support/certificate.js';
import { collectingSink } from '../../../../test/support/collecting-sink.js';
import { attempt, noted, outputContext } from '../../../../test/support/output-attempt.js';
import { createEgress } from '@connector-frame/engine/egress';
import { systemClock, type Output } from '@connector-frame/engine/connector-api';
import { readTarget, timeOf, timeParameter } from '../proofpoint-on-demand/config.js';
import { openWebSocket } from '../_shared/websocket/client.js';
import { createMessageInput } from '../_shared/websocket/message-input.js';
import { websocketOutput } from './index.js';

const egress = createEgress({ allow: ['127.0.0.0/8'] });
const signal = new AbortController().signal;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Peer {
  port: number;
  server: WebSocketServer;
  requests: IncomingMessage[];
  received: string[];
}

async function listen(http: Server = createServer(), port = 0, accept = true): Promise<Peer> {
  const server = new WebSocketServer({ noServer: true });
  const peer: Peer = { port: 0, server, requests: [], received: [] };
  http.on('upgrade', (request, socket, head) => {
    peer.requests.push(request);
    if (!accept) {
      socket.end(`HTTP/1.1 401 ${request.headers.authorization ?? ''}\r\n\r\n`);
      return;
    }
    server.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (data: Buffer) => peer.received.push(data.toString()));
      server.emit('connection', client, request);
    });
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  peer.port = Number(Object(http.address()).port);
  ends.push(() => {
    for (const client of server.clients) client.terminate();
    http.close();
  });
  return peer;
}

function open(settings: object, secrets: object = {}): Output {
  const output = websocketOutput.createOutput?.(
    { settings: { ...settings }, secrets: { ...secrets } },
    outputContext('output:websocket', egress),
  );
  if (!output) throw new Error('no output');
  ends.push(() => output.close?.());
  return output;
}
const uriOf = ({ port }: Peer, scheme = 'ws'): string => `${scheme}://127.0.0.1:${port}/events?a=1`;

test('sends each record as a message, with the credentials, and connects again', async () => {
  const peer = await listen();
  const auth = { strategy: 'basic', basic: { user: 'log' } };
  const output = open({ uri: uriOf(peer), auth }, { password: 'p:ü' });
  expect(await output.write(noted(600), signal)).toEqual({});
  await expect.poll(() => peer.received).toEqual(noted(600).lines);
  const [request] = peer.requests;
  expect([request?.url, request?.headers.authorization]).toEqual([
    '/events?a=1',
    `Basic ${Buffer.from('log:p:ü').toString('base64')}`,
  ]);
  for (const client of peer.server.clients) client.terminate();
  await expect
    .poll(
      async () => {
        await attempt(output, noted(1, 600));
        return peer.received.at(-1);
      },
      { timeout: 10_000 },
    )
    .toBe(noted(1, 600).lines[0]);
});

test('pings, and ends a connection without pongs', async () => {
  const peer = await listen();
  const pinged = new Promise<void>((resolve) => {
    peer.server.on('connection', (client) => client.once('ping', () => resolve()));
  });
  await open({ uri: uriOf(peer), ping_interval: 1, ping_timeout: 1 }).open?.(signal);
  await pinged;
});

test('refused credentials are an error that does not quote the server', async () => {
  const peer = await listen(createServer(), 0, false);
  const secrets = { token: 'canary-token-0012' };
  const config = { uri: uriOf(peer), auth: { strategy: 'bearer' } };
  const { failure, error } = await attempt(open(config, secrets), noted(1));
  expect(failure).toMatchObject({ code: 'invalid_credentials', kind: 'permanent' });
  expect(`${String(error)} ${error instanceof Error ? error.stack : ''}`).not.toContain('canary');
  const outcome = await websocketOutput.testConnection?.({ settings: config, secrets }, { egress, signal });
  expect(outcome).toMatchObject({ ok: false, reason: 'invalid_credentials' });
});

test('a redirect is not followed, and a server that is no WebSocket is none', async () => {
  const elsewhere = await listen();
  const redirecting = createServer();
  redirecting.on('upgrade', (_request, socket) => {
    socket.end(`HTTP/1.1 302 Found\r\nLocation: ${uriOf(elsewhere)}\r\n\r\n`);
  });
  await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
  ends.push(() => redirecting.close());
  const uri = `ws://127.0.0.1:${Object(redirecting.address()).port}/`;
  expect((await attempt(open({ uri }), noted(1))).failure).toMatchObject({ code: 'redirected' });
  expect(elsewhere.requests).toEqual([]);
});

test('checks the certificate, with the authority of the settings', async () => {
  const { cert, key } = createCertificate('127.0.0.1');
  const peer = await listen(createTlsServer({ cert, key }));
  const uri = uriOf(peer, 'wss');
  expect((await attempt(open({ uri }), noted(1))).failure).toMatchObject({ code: 'tls_failed' });
  expect(peer.requests).toEqual([]);
  expect((await attempt(open({ uri, tls: { ca_file: cert } }), noted(1))).failure).toBeUndefined();
});

test('an input stores each message, and continues on a new connection', async () => {
  const peer = await listen();
  peer.server.on('connection', (client) => {
    client.send(`{"n":${peer.requests.length}}`);
    client.send('text');
    if (peer.requests.length === 1) client.close();
  });
  const sink = collectingSink();
  const stored: string[] = [];
  const input = createMessageInput({
    product: 'the server',
    clock: systemClock,
    open: (stop) => openWebSocket(egress, { url: new URL(uriOf(peer)) }, 'the server', stop),
    stored: (message) => stored.push(message.toString()),
  });
  ends.push(() => input.close?.());
  await input.start?.(sink);
  await expect
    .poll(() => sink.records, { timeout: 10_000 })
    .toEqual([{ n: 1 }, { message: 'text' }, { n: 2 }, { message: 'text' }]);
  await expect.poll(() => stored).toEqual(['{"n":1}', 'text', '{"n":2}', 'text']);
});

// The address in the documentation of Proofpoint's log API, and the time of its events.
test('asks Proofpoint for the stream of a cluster, from a moment on', () => {
  const config = { settings: { cluster_id: 'acme_hosted', type: 'maillog' }, secrets: { api_key: 'key' } };
  const { url, headers } = readTarget(config, timeParameter(Date.parse('2026-03-10T12:00:00.500Z')));
  expect(url.href).toBe(
    'wss://logstream.proofpoint.com/v1/stream?cid=acme_hosted&type=maillog&sinceTime=2026-03-10T12%3A00%3A00%2B0000',
  );
  expect(headers).toEqual({ authorization: 'Bearer key' });
  expect(timeOf(Buffer.from('{"ts":"2026-03-10T05:00:00.000000-0700","guid":"x"}'))).toBe(
    Date.parse('2026-03-10T12:00:00Z'),
  );
});
