import type { Socket } from 'node:net';
import { ConnectorError, type Egress, type FailureKind } from '@connector-frame/engine/connector-api';
import type * as mqtt from 'mqtt';
import { brokerError, openConnection } from '../_shared/broker/connection.js';
import type { MqttTarget } from './config.js';
import { PacketSizes } from './packet-sizes.js';

const SETUP_MS = 10_000;
/** How long the broker keeps the session of a client that is away, in seconds. */
const SESSION_S = 7 * 24 * 3_600;

type ErrorMapping = readonly [code: string, kind: FailureKind, message: string];

const signIn: ErrorMapping = [
  'invalid_credentials',
  'permanent',
  'The MQTT broker did not accept the user name and password.',
];
const denied: ErrorMapping = ['forbidden', 'permanent', 'The MQTT broker does not allow this user to use the topic.'];
const busy: ErrorMapping = ['upstream_error', 'retry', 'The MQTT broker is not available.'];
const throttled: ErrorMapping = ['rate_limited', 'throttled', 'The MQTT broker is limiting messages.'];

/** By return code of version 3.1.1 and reason code of version 5, which don't overlap. */
const codes: Readonly<Record<number, ErrorMapping>> = {
  2: ['rejected', 'permanent', 'The MQTT broker does not accept this client ID.'],
  3: busy,
  4: signIn,
  5: signIn,
  128: ['rejected', 'retry', 'The MQTT broker refused the request.'],
  133: ['rejected', 'permanent', 'The MQTT broker does not accept this client ID.'],
  134: signIn,
  135: denied,
  136: busy,
  137: busy,
  138: ['forbidden', 'permanent', 'The MQTT broker has banned this client.'],
  143: ['rejected', 'permanent', 'The MQTT broker does not accept this topic filter.'],
  144: ['rejected', 'permanent', 'The MQTT broker does not accept this topic.'],
  149: ['too_large', 'permanent', 'The MQTT broker does not accept messages of this size.'],
  151: throttled,
  159: throttled,
};
/** The broker speaks version 3.1.1 only. */
const OLD = [1, 132];

const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined;

/** Converts an error of the client to one that quotes nothing from the broker. */
export function mqttError(error: unknown): ConnectorError {
  const [code, kind, message] = codes[codeOf(error) ?? -1] ?? [];
  if (code !== undefined && kind !== undefined && message !== undefined) return new ConnectorError(code, message, kind);
  return brokerError(error, 'The MQTT broker');
}

/** A signed-in connection. Nothing reconnects: a new one is opened instead. */
export interface MqttSession {
  client: mqtt.MqttClient;
  /** Resolves when the connection ends. */
  ended: Promise<void>;
  /** Aborted when the connection ends. */
  over: AbortSignal;
  /** Why it ended, if that is known. */
  failure(): ConnectorError | undefined;
  close(): Promise<void>;
}

/**
 * Connects through the egress guard and signs in, with version 5 if the broker has it.
 *
 * @param prepare called before the first message can arrive
 * @throws ConnectorError
 */
export async function connectMqtt(
  target: MqttTarget,
  egress: Egress,
  signal: AbortSignal,
  prepare: (client: mqtt.MqttClient, socket: Socket) => void = () => undefined,
): Promise<MqttSession> {
  const library = await import('mqtt');
  try {
    try {
      return await open(library, target, 5, egress, signal, prepare);
    } catch (error) {
      if (!OLD.includes(codeOf(error) ?? -1)) throw error;
      return await open(library, target, 4, egress, signal, prepare);
    }
  } catch (error) {
    signal.throwIfAborted();
    // Here, it is the connection that is not allowed.
    if (codeOf(error) === 135) throw new ConnectorError('invalid_credentials', signIn[2], 'permanent');
    throw mqttError(error);
  }
}

async function open(
  { MqttClient }: typeof mqtt,
  target: MqttTarget,
  version: 4 | 5,
  egress: Egress,
  signal: AbortSignal,
  prepare: (client: mqtt.MqttClient, socket: Socket) => void,
): Promise<MqttSession> {
  const socket = await openConnection(egress, target.address, AbortSignal.any([signal, AbortSignal.timeout(SETUP_MS)]));
  let failure: ConnectorError | undefined;
  const client = new MqttClient(
    () => {
      const sizes = new PacketSizes(target.maxPacket);
      socket.on('data', (chunk: Buffer) => {
        if (sizes.fits(chunk)) return;
        const message = 'The MQTT broker sent a message that is larger than the limit. Raise "Largest message".';
        failure ??= new ConnectorError('too_large', message, 'permanent');
        socket.destroy();
      });
      return socket;
    },
    optionsFor(target, version),
  );
  prepare(client, socket);
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const over = new AbortController();
  const ended = new Promise<void>((resolve) => {
    client.once('close', () => {
      over.abort();
      signal.removeEventListener('abort', stop);
      resolve();
    });
  });
  try {
    await new Promise<void>((resolve, reject) => {
      client.once('connect', () => resolve());
      client.on('error', reject);
      client.once('close', () => reject(failure ?? new Error('closed')));
      if (signal.aborted) stop();
    });
  } catch (error) {
    client.end(true);
    socket.destroy();
    throw error;
  }
  return {
    client,
    ended,
    over: over.signal,
    failure: () => failure,
    async close() {
      await client.endAsync().catch(() => undefined);
      socket.destroy();
    },
  };
}

const optionsFor = (target: MqttTarget, version: 4 | 5): mqtt.IClientOptions => ({
  protocolVersion: version,
  clientId: target.clientId,
  clean: !target.keepsSession,
  keepalive: target.keepAlive,
  ...(target.username !== undefined && { username: target.username }),
  ...(target.password !== undefined && { password: target.password }),
  ...(version === 5 && target.keepsSession && { properties: { sessionExpiryInterval: SESSION_S } }),
  connectTimeout: SETUP_MS,
  reconnectPeriod: 0,
  resubscribe: false,
  queueQoSZero: false,
});
