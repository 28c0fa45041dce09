import type { Admin } from 'kafkajs';
import { createTester } from '../_shared/connection-test/create-tester.js';
import { failed, passed, type Failure } from '../_shared/connection-test/outcome.js';
import type { Tester, TesterConfig, TestOutcome } from '@connector-frame/engine/connector-api';
import { text } from '../_shared/read.js';
import { KafkaConnection, type KafkaTarget } from './connection.js';
import { describeFailure, type TestedFields } from './describe.js';
import { readInputSettings } from './input-settings.js';
import { readInputTarget, readOutputTarget } from './target.js';

const inputFields: TestedFields = {
  user: '/settings/sasl/username',
  topics: '/settings/topics',
  group: '/settings/group_id',
  security: '/settings/tls/enabled',
};
const outputFields: TestedFields = {
  user: '/settings/username',
  topics: '/settings/topic',
  security: '/settings/security_protocol',
};

/**
 * Signs in, looks up the topics and fetches the consumer group's offsets. Does not join the group
 * or read messages.
 */
export const testKafkaInput = createKafkaTester(readInputTarget, inputFields, async (admin, config) => {
  const settings = readInputSettings(config);
  if ('ok' in settings) return settings;
  const { names, matches, groupId } = settings;
  for (const topic of names) await admin.fetchTopicOffsets(topic);
  const matching = matches
    ? (await admin.listTopics()).filter((topic) => !topic.startsWith('__') && matches(topic))
    : [];
  const topics = new Set([...names, ...matching]);
  if (topics.size === 0) {
    return failed('not_found', 'Signed in, but no topic has a name like this.', {
      hint: 'A pattern fits from the start of a name on.',
      at: inputFields.topics,
    });
  }
  await admin.fetchOffsets({ groupId, topics: [...topics].slice(0, 20) });
  return passed(`Signed in, and found ${topics.size === 1 ? '1 topic' : `${topics.size} topics`}`);
});

/** Signs in and looks up the topic. Does not publish. */
export const testKafkaOutput = createKafkaTester(readOutputTarget, outputFields, async (admin, { settings }) => {
  const topic = text(settings, 'topic') ?? '';
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const count = topics.find(({ name }) => name === topic)?.partitions.length ?? 0;
  return passed(`Signed in, and found the topic with ${count === 1 ? '1 partition' : `${count} partitions`}`);
});

function createKafkaTester(
  read: (config: TesterConfig) => KafkaTarget | Failure,
  fields: TestedFields,
  look: (admin: Admin, config: TesterConfig) => Promise<TestOutcome>,
): Tester {
  return createTester({ product: 'Kafka', address: '/settings/bootstrap_servers' }, async (config, context) => {
    const target = read(config);
    if ('ok' in target) return target;
    const connection = new KafkaConnection(target, context.egress, { requestTimeout: 8_000, retries: 0 });
    const stop = (): void => connection.destroy();
    context.signal.addEventListener('abort', stop, { once: true });
    const admin = connection.kafka.admin();
    try {
      await admin.connect();
      return await look(admin, config);
    } catch (error) {
      context.signal.throwIfAborted();
      return describeFailure(connection.explain(error), fields);
    } finally {
      context.signal.removeEventListener('abort', stop);
      await connection.close(() => admin.disconnect());
    }
  });
}
