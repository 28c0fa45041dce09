import {
  type Batch,
  ConnectorError,
  type CreateOutput,
  type Rejection,
  type WriteResult,
} from '@connector-frame/engine/connector-api';
import { connectMqtt, mqttError, type MqttSession } from './client.js';
import { readOutputSettings, readTarget, type OutputSettings } from './config.js';

const WRITE_MS = 30_000;
/** The fixed header, the length of the topic, the packet id and the properties. */
const PACKET_OVERHEAD = 16;
/** https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901241 */
const INVALID_TOPIC = /^$|[+#\0]/;

/** Creates an output that publishes one message per record. */
export const createMqttOutput: CreateOutput = (config, { egress }) => {
  const target = readTarget(config);
  const settings = readOutputSettings(config.settings);
  let session: MqttSession | undefined;

  async function opened(signal: AbortSignal): Promise<MqttSession> {
    if (session?.client.connected) return session;
    await session?.close();
    session = undefined;
    session = await connectMqtt(target, egress, signal);
    return session;
  }

  return {
    batching: { records: 100, bytes: 1_000_000, waitMs: 0 },
    open: async (signal) => void (await opened(signal)),
    async write(batch, signal) {
      const { client, ended } = await opened(signal);
      const { rejected, messages } = messagesOf(batch, settings, target.maxPacket);
      const { qos, retain } = settings;
      const published = Promise.all(
        messages.map(({ topic, line }) => client.publishAsync(topic, line, { qos, retain })),
      );
      try {
        await Promise.race([published, broken(ended), late(signal)]);
      } catch (error) {
        published.catch(() => undefined);
        await session?.close();
        session = undefined;
        if (signal.aborted) throw new ConnectorError('stopped', 'The write was canceled.');
        throw mqttError(error);
      }
      return rejected.length > 0 ? { rejected } : ({} satisfies WriteResult);
    },
    async close() {
      await session?.close();
      session = undefined;
    },
  };
};

async function broken(ended: Promise<void>): Promise<never> {
  await ended;
  throw new Error('closed');
}

const late = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(WRITE_MS)]);
    limit.addEventListener('abort', () =>
      reject(new ConnectorError('timeout', 'The MQTT broker did not respond in time.', 'retry')),
    );
  });

function messagesOf(
  batch: Batch,
  { topic }: OutputSettings,
  maxPacket: number,
): { rejected: Rejection[]; messages: { topic: string; line: string }[] } {
  const rejected: Rejection[] = [];
  const messages: { topic: string; line: string }[] = [];
  for (const [index, line] of batch.lines.entries()) {
    const name = topic.fixed ?? topic.nameOf(batch.records[index] ?? {});
    if (name === undefined) rejected.push({ index, reason: 'missing_field' });
    else if (INVALID_TOPIC.test(name)) rejected.push({ index, reason: 'invalid_topic' });
    else if (Buffer.byteLength(name) + Buffer.byteLength(line) + PACKET_OVERHEAD > maxPacket)
      rejected.push({ index, reason: 'too_large' });
    else messages.push({ topic: name, line });
  }
  return { rejected, messages };
}
