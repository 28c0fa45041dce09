/**
 * A server of the Tabular Data Stream protocol, as MS-TDS 2.2 describes its messages. It answers
 * statements as a test says.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { Certificate } from './certificate.js';

export interface TdsAnswer {
  columns?: readonly string[];
  rows?: readonly (readonly (string | null)[])[];
  /** Error number. */
  error?: number;
}

export interface TdsServer {
  port: number;
  /** Every byte that was received on the sockets. */
  received(): Buffer;
  close(): void;
}

const PRELOGIN = 0x12;
const LOGIN = 0x10;
const RPC = 3;

export interface TdsOptions {
  certificate?: Certificate;
  /** Error number of the login. */
  refuses?: number;
  answer?(sql: string, values: readonly (string | null)[]): TdsAnswer;
}

export async function startTdsServer({ certificate, refuses, answer = () => ({}) }: TdsOptions): Promise<TdsServer> {
  const chunks: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const tunnel = new Tunnel(socket);
    let stream: Duplex = tunnel;
    const onMessage = (type: number, body: Buffer): void => {
      if (type === PRELOGIN) {
        tunnel.write(packet(preloginResponse(certificate ? 1 : 2)));
        if (!certificate) return;
        tunnel.wrapped = true;
        tunnel.secured = true;
        const secured = new TLSSocket(tunnel, {
          isServer: true,
          secureContext: createSecureContext(certificate),
        });
        secured.on('error', () => undefined);
        stream = secured;
        readMessages(secured, onMessage);
      } else if (type === LOGIN) {
        stream.write(packet(refuses === undefined ? Buffer.concat([LOGIN_ACK, done(0)]) : failure(refuses)));
      } else {
        const { sql, values } =
          type === RPC ? readCall(body) : { sql: body.subarray(22).toString('utf16le'), values: [] };
        // The client's own settings after the login.
        const { error, columns = [], rows = [] } = /^set /i.test(sql) ? {} : answer(sql, values);
        stream.write(packet(error === undefined ? result(columns, rows) : failure(error)));
      }
    };
    readMessages(tunnel, onMessage);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received: () => Buffer.concat(chunks),
    close: () => void server.close(),
  };
}

/** A socket whose TLS handshake is wrapped in packets (MS-TDS 3.2.5.1), and the rest is not. */
class Tunnel extends Duplex {
  wrapped = false;
  secured = false;
  readonly #flight: Buffer[] = [];
  readonly #socket: Socket;
  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      // The first packet that is not one of the handshake ends it.
      if (this.wrapped && chunk[0] !== PRELOGIN) this.wrapped = false;
      this.push(this.wrapped ? chunk.subarray(8) : chunk);
    });
    socket.on('close', () => this.destroy());
  }
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: string, next: () => void): void {
    if (this.wrapped) this.#flight.push(chunk);
    else this.#socket.write(chunk);
    // The client expects one packet for each that it sends.
    if (this.#flight.length === 1)
      setImmediate(() => this.#socket.write(packet(Buffer.concat(this.#flight.splice(0)), PRELOGIN)));
    next();
  }
}

function readMessages(stream: Duplex, onMessage: (type: number, body: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  let body: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    if (stream instanceof Tunnel && stream.secured) return;
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 8 && rest.length >= rest.readUInt16BE(2)) {
      const length = rest.readUInt16BE(2);
      const [type = 0, status = 0] = rest;
      body.push(rest.subarray(8, length));
      rest = rest.subarray(length);
      if ((status & 1) === 0) continue;
      const whole = Buffer.concat(body);
      body = [];
      onMessage(type, whole);
    }
  });
}

function packet(body: Buffer, type = 4): Buffer {
  const head = Buffer.from([type, 1, 0, 0, 0, 0, 1, 0]);
  head.writeUInt16BE(body.length + 8, 2);
  return Buffer.concat([head, body]);
}

/** Version and encryption, the two options that a server must send. */
const preloginResponse = (encryption: number): Buffer =>
  Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0, 0, 0, 0, encryption]);

const ucs = (text: string): Buffer => Buffer.from(text, 'utf16le');
const u16 = (value: number): Buffer => Buffer.from([value & 255, value >> 8]);
const token = (id: number, body: Buffer): Buffer => Buffer.concat([Buffer.from([id]), u16(body.length), body]);
const done = (status: number): Buffer => Buffer.concat([Buffer.from([0xfd, status, 0, 0, 0]), Buffer.alloc(8)]);

/** TDS 7.4. */
const LOGIN_ACK = token(
  0xad,
  Buffer.concat([Buffer.from([1, 0x74, 0, 0, 4, 3]), ucs('SQL'), Buffer.from([16, 0, 0, 0])]),
);

const failure = (number: number): Buffer => {
  const head = Buffer.alloc(6);
  head.writeInt32LE(number);
  head[4] = 1;
  head[5] = 14;
  const message = ucs('secret text');
  const body = Buffer.concat([head, u16(message.length / 2), message, Buffer.from([0, 0, 0, 0, 0, 0])]);
  return Buffer.concat([token(0xaa, body), done(2)]);
};

/** All columns are `nvarchar(4000)`. */
function result(columns: readonly string[], rows: readonly (readonly (string | null)[])[]): Buffer {
  if (columns.length === 0) return done(0);
  const collation = [9, 4, 0xd0, 0, 0x34];
  const metadata = columns.flatMap((name) => [
    Buffer.from([0, 0, 0, 0, 9, 0, 0xe7, 0x40, 0x1f, ...collation, name.length]),
    ucs(name),
  ]);
  const cells = rows.flatMap((row) => [
    Buffer.from([0xd1]),
    ...row.flatMap((cell) => (cell === null ? [u16(0xffff)] : [u16(cell.length * 2), ucs(cell)])),
  ]);
  return Buffer.concat([Buffer.from([0x81]), u16(columns.length), ...metadata, ...cells, done(0)]);
}

/** Reads a call of `sp_executesql`: the statement, the types, and the values. */
function readCall(body: Buffer): { sql: string; values: (string | null)[] } {
  // Headers, then the number of the procedure and flags.
  let at = body.readUInt32LE(0) + 6;
  const found: (string | null)[] = [];
  while (at < body.length) {
    // Name, status; then the type with its length and collation.
    at += 1 + 2 * (body[at] ?? 0) + 1;
    const type = body[at];
    const size = body.readUInt16LE(at + 1);
    at += 8;
    if (type !== 0xe7) throw new Error(`unknown type ${type}`);
    if (size === 0xffff) {
      at += 8;
      const parts: Buffer[] = [];
      for (let length = body.readUInt32LE(at); length > 0; length = body.readUInt32LE(at)) {
        parts.push(body.subarray(at + 4, at + 4 + length));
        at += 4 + length;
      }
      at += 4;
      found.push(Buffer.concat(parts).toString('utf16le'));
    } else {
      const length = body.readUInt16LE(at);
      at += 2;
      found.push(length === 0xffff ? null : body.subarray(at, at + length).toString('utf16le'));
      if (length !== 0xffff) at += length;
    }
  }
  const [sql, , ...values] = found;
  return { sql: sql ?? '', values };
}
