import { ConnectorError, type CreateInput } from '@connector-frame/engine/connector-api';
import type { IPublishPacket, MqttClient } from 'mqtt';
import { AppendQueue } from '../_shared/broker/append-queue.js';
import { toFields, withMetadata } from '../_shared/broker/message.js';
import { createSubscriptionInput } from '../_shared/broker/subscription-input.js';
import { connectMqtt, mqttError, type MqttSession } from './client.js';
import { readInputSettings, readTarget, type InputSettings } from './config.js';

/** The client delivers one message at a time, so nothing waits here. */
const QUEUE = { messages: 1_000, bytes: 16 * 1024 * 1024 };
const flow = { pause: () => undefined, resume: () => undefined };

/** Creates an input that acknowledges each message once it is stored. */
export const createMqttInput: CreateInput = (config, { egress, clock }) => {
  const target = readTarget(config);
  const settings = readInputSettings(config.settings);
  return createSubscriptionInput({
    product: 'the MQTT broker',
    clock,
    async subscribe(sink, signal) {
      const over = new AbortController();
      const queue = new AppendQueue(sink, clock, over.signal, QUEUE, flow);
      const session = await connectMqtt(target, egress, signal, (client) => {
        // The client acknowledges when `done` is called, and reads no further until then.
        client.handleMessage = (packet: IPublishPacket, done) => queue.add(toLine(packet, settings), done);
      });
      void stopWith(session, over);
      try {
        await subscribeTo(session.client, settings.topic);
      } catch (error) {
        await session.close();
        throw error;
      }
      return {
        ended: session.ended,
        async close() {
          const failure = session.failure();
          if (failure) sink.note?.({ level: 'error', code: failure.code, message: failure.message });
          await session.close();
        },
      };
    },
  });
};

async function stopWith({ ended }: MqttSession, over: AbortController): Promise<void> {
  await ended;
  over.abort();
}

function toLine({ topic, payload }: IPublishPacket, { topicField }: InputSettings): string {
  const fields = toFields(typeof payload === 'string' ? Buffer.from(payload) : payload);
  return JSON.stringify(withMetadata(fields, [[topicField, topic]]));
}

/** @throws ConnectorError */
export async function subscribeTo(client: MqttClient, topic: string): Promise<void> {
  try {
    const [granted] = await client.subscribeAsync(topic, { qos: 1 });
    if (granted && granted.qos >= 128)
      throw new ConnectorError('forbidden', 'The MQTT broker does not allow this user to read the topic.', 'permanent');
  } catch (error) {
    throw mqttError(error);
  }
}
