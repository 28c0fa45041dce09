import type { Socket } from 'node:net';
import {
  type Batch,
  type ConnectorContext,
  type CreateOutput,
  type Egress,
  type Output,
} from '@connector-frame/engine/connector-api';
import { brokerError, openConnection } from '../_shared/broker/connection.js';
import { within } from '../_shared/broker/within.js';
import { readPapertrailTarget, readQradarTarget, readSyslogTarget, type SyslogTarget } from './config.js';
import { formatLine, frame } from './format.js';

const SETUP_MS = 10_000;

export const createSyslogOutput: CreateOutput = (config, context) =>
  createOutput(readSyslogTarget(config), 'The syslog receiver', context);

export const createPapertrailOutput: CreateOutput = (config, context) =>
  createOutput(readPapertrailTarget(config), 'Papertrail', context);

export const createQradarOutput: CreateOutput = (config, context) =>
  createOutput(readQradarTarget(config), 'QRadar', context);

/** A connection, and a signal that is aborted when it ends. */
interface OpenSocket {
  socket: Socket;
  over: AbortSignal;
}

/**
 * Writes each record as a syslog message. Syslog has no acknowledgments: a write is complete when
 * the operating system has taken it, so what is on its way when a connection breaks is lost.
 */
function createOutput(target: SyslogTarget, product: string, { egress, clock }: ConnectorContext): Output {
  let current: OpenSocket | undefined;

  async function opened(signal: AbortSignal): Promise<OpenSocket> {
    if (current && !current.over.aborted) return current;
    try {
      current = await connectSyslog(target, egress, signal);
      return current;
    } catch (error) {
      signal.throwIfAborted();
      throw brokerError(error, product);
    }
  }

  function drop(): void {
    current?.socket.destroy();
    current = undefined;
  }

  return {
    batching: { records: 500, bytes: 512 * 1024, waitMs: 0 },
    open: async (signal) => void (await opened(signal)),
    async write(batch, signal) {
      const { socket, over } = await opened(signal);
      try {
        const text = messagesOf(batch, target, clock.now());
        await within(written(socket, text), { canceled: signal, over, product });
      } catch (error) {
        drop();
        throw brokerError(error, product);
      }
      return {};
    },
    close() {
      const last = current?.socket;
      current = undefined;
      last?.end(() => last.destroy());
      return Promise.resolve();
    },
  };
}

/**
 * Connects through the egress guard.
 * @throws EgressError or ConnectorError
 */
export async function connectSyslog(
  { address }: SyslogTarget,
  egress: Egress,
  signal: AbortSignal,
): Promise<OpenSocket> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SETUP_MS)]);
  const socket = await openConnection(egress, address, limit);
  const over = new AbortController();
  socket.setKeepAlive(true, 30_000);
  // A receiver says nothing. Reading is how the end of the connection is noticed.
  socket.resume();
  socket.once('end', () => over.abort());
  socket.once('error', () => over.abort());
  socket.once('close', () => over.abort());
  return { socket, over: over.signal };
}

const written = (socket: Socket, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.write(text, (error) => (error ? reject(error) : resolve()));
  });

const messagesOf = ({ lines }: Batch, { format, program, countsOctets }: SyslogTarget, now: number): string =>
  lines.map((line) => frame(formatLine(format, line, { now, program }), countsOctets)).join('');
