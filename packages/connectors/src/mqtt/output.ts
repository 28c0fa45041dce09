import { type Batch, type CreateOutput, type Rejection, type WriteResult } from '@connector-frame/engine/connector-api';
import { within } from '../_shared/broker/within.js';
import { connectMqtt, mqttError, type MqttSession } from './client.js';
import { readOutputSettings, readTarget, type OutputSettings } from './config.js';

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
      const { client, over } = await opened(signal);
      const { rejected, messages } = messagesOf(batch, settings, target.maxPacket);
      const { qos, retain } = settings;
      const published = Promise.all(
        messages.map(({ topic, line }) => client.publishAsync(topic, line, { qos, retain })),
      );
      try {
        await within(published, { canceled: signal, over, product: 'The MQTT broker' });
      } catch (error) {
        published.catch(() => undefined);
        await session?.close();
        session = undefined;
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
