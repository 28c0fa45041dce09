import type { Socket } from 'node:net';
import { AMQPBaseClient, AMQPError } from '@cloudamqp/amqp-client';
import { AMQPView } from '@cloudamqp/amqp-client/amqp-view';
import type { RabbitTarget } from './config.js';
import { FrameSplitter } from './frame-splitter.js';

/** Seconds. */
const HEARTBEAT = 30;
const FRAME_MAX = 128 * 1024;
/** `AMQP`, and version 0-9-1. */
const PROTOCOL = Uint8Array.from([65, 77, 81, 80, 0, 0, 9, 1]);

/** Lets the client use a connection that was opened through the egress guard. */
export class GuardedClient extends AMQPBaseClient {
  readonly #socket: Socket;
  readonly #frames = new FrameSplitter(FRAME_MAX);

  constructor({ vhost, username, password }: RabbitTarget, socket: Socket) {
    super(vhost, username, password, 'connector-frame', undefined, FRAME_MAX, HEARTBEAT);
    this.#socket = socket;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client's only way to report
    this.onerror = () => undefined;
  }

  connect(): Promise<AMQPBaseClient> {
    const socket = this.#socket;
    // A server that is alive sends heartbeats.
    socket.setTimeout(HEARTBEAT * 2_000, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of this.#frames.push(chunk))
          this.parseFrames(new AMQPView(frame.buffer, frame.byteOffset, frame.byteLength));
      } catch {
        socket.destroy();
      }
    });
    return new Promise((resolve, reject) => {
      this.connectPromise = [resolve, reject];
      socket.once('close', () => {
        this.closed = true;
        const error = new AMQPError('Socket closed', this);
        for (const channel of this.channels) channel?.setClosed(error);
        reject(error);
      });
      this.send(PROTOCOL).catch(reject);
    });
  }

  send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      // The client reuses its buffers once this resolves.
      this.#socket.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  protected closeSocket(): void {
    this.closed = true;
    this.#socket.end(() => this.#socket.destroy());
  }
}
