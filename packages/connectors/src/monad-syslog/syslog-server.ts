import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, ListenAt, Sink } from '@connector-frame/engine/connector-api';
import { cannotListen } from '../_shared/listen/cannot-listen.js';
import { PipelineQueue } from './pipeline-queue.js';
import { MAX_MESSAGE, trimmed, type Frame } from './frame-splitter.js';
import { LossCounter } from './loss-counter.js';
import { StreamListener } from './stream-listener.js';
import { peerOf, syslogLine, type Origin } from './parse-message.js';

/** Requested size of the UDP receive buffer in bytes; the operating system may limit it. */
const UDP_BUFFER = 4 * 1024 * 1024;
/** Time to store queued messages when a pipeline leaves, in milliseconds. */
const GRACE = 2_000;
/** Messages to convert before yielding to the event loop. */
const SLICE = 500;

export interface SyslogServerOptions {
  at: ListenAt;
  clock: Clock;
  /** Milliseconds between two log entries about losses. Default 60,000. */
  logEveryMs?: number;
}

/** Listens on one port for UDP, TCP and TLS, and delivers messages to every joined pipeline. */
export class SyslogServer {
  /** SHA-256 fingerprints of allowed client certificates; empty: any sender is allowed. */
  fingerprints: ReadonlySet<string> = new Set();
  readonly #queues = new Map<Sink, PipelineQueue>();
  readonly #losses: LossCounter;
  readonly #streams: StreamListener;
  #datagrams: Socket | undefined;
  #line: Promise<void> = Promise.resolve();
  readonly #options: SyslogServerOptions;

  constructor(options: SyslogServerOptions) {
    this.#options = options;
    const { at, clock, logEveryMs } = options;
    this.#losses = new LossCounter(
      clock,
      (entry) => this.#queues.forEach(({ sink }) => sink.note?.(entry)),
      logEveryMs,
    );
    this.#streams = new StreamListener({
      at,
      losses: this.#losses,
      fingerprints: () => this.fingerprints,
      take: async (read, origin) => {
        const storing = await this.#serialize(() => this.#put(read, origin));
        const lost = (await Promise.all(storing)).reduce((sum, count) => sum + count, 0);
        this.#losses.add('unfinished', lost);
      },
    });
  }

  /**
   * Converts the frames of one connection and queues them. Runs for one connection at a time and
   * only while the queues have room, because two bytes of a stream can become a record of hundreds
   * of bytes.
   *
   * @returns for each slice, a promise of the number of messages that were not stored
   */
  async #put(read: () => readonly Frame[], origin: Origin): Promise<Promise<number>[]> {
    const queues = [...this.#queues.values()];
    await Promise.all(queues.map((queue) => queue.ready()));
    const frames = read();
    if (queues.every(({ closed }) => closed)) return [Promise.resolve(frames.length)];
    const storing: Promise<number>[] = [];
    for (let from = 0; from < frames.length; from += SLICE) {
      if (from > 0) await turn();
      const lines = frames
        .slice(from, from + SLICE)
        .map((frame) => syslogLine(frame, origin, this.#options.clock.now()));
      const stored = Promise.all(queues.map((queue) => queue.put(lines)));
      storing.push(stored.then((each) => (each.includes(false) ? lines.length : 0)));
    }
    return storing;
  }

  #serialize<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#line.then(work);
    this.#line = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  /** Starts listening. @returns the port @throws ConnectorError */
  async open(): Promise<number> {
    const { at } = this.#options;
    try {
      const port = await this.#streams.open();
      await this.#openDatagrams(at.host, port);
      return port;
    } catch (error) {
      await this.close();
      throw cannotListen(error, at);
    }
  }

  join(sink: Sink): void {
    this.#queues.set(sink, new PipelineQueue(sink, this.#options.clock));
  }

  /**
   * Stores the queued messages of a pipeline, if the buffer has room, and removes it.
   *
   * @returns whether other pipelines are left
   */
  async leave(sink: Sink): Promise<boolean> {
    const queue = this.#queues.get(sink);
    const last = this.#queues.size === 1;
    // When the last pipeline leaves, stop reading before storing its queue.
    const closing = last ? this.close() : undefined;
    await queue?.close(GRACE);
    await closing;
    if (last) await this.#losses.close();
    this.#queues.delete(sink);
    return !last;
  }

  async close(): Promise<void> {
    const socket = this.#datagrams;
    this.#datagrams = undefined;
    await Promise.all([this.#streams.close(), socket && new Promise<void>((resolve) => socket.close(resolve))]);
  }

  #openDatagrams(host: string, port: number): Promise<void> {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    this.#datagrams = socket;
    socket.on('message', (bytes, { address }) => this.#datagram(bytes, address));
    return new Promise((resolve, reject) => {
      socket.once('error', (error) => {
        this.#datagrams = undefined;
        socket.close();
        reject(error);
      });
      socket.bind(port, host, () => {
        socket.removeAllListeners('error').on('error', () => undefined);
        try {
          socket.setRecvBufferSize(UDP_BUFFER);
        } catch {
          // Keep the size that the operating system allows.
        }
        resolve();
      });
    });
  }

  #datagram(bytes: Buffer, address: string): void {
    if (this.fingerprints.size > 0) return this.#losses.add('udp_refused');
    const truncated = bytes.length > MAX_MESSAGE;
    const frame = { bytes: trimmed(bytes.subarray(0, MAX_MESSAGE)), truncated };
    if (frame.bytes.length === 0) return undefined;
    const line = syslogLine(frame, { transport: 'udp', peer: peerOf(address) }, this.#options.clock.now());
    for (const queue of this.#queues.values()) void this.#offer(queue, line);
    return undefined;
  }

  async #offer(queue: PipelineQueue, line: string): Promise<void> {
    if (!(await queue.offer(line))) this.#losses.add('udp_lost');
  }
}
