import type { Admin } from 'kafkajs';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import type { Subject } from '../_shared/connection-test/failures.js';
import { failed, passed, type Failure } from '../_shared/connection-test/outcome.js';
import type { Egress, Tester, TesterConfig, TestOutcome } from '@connector-frame/engine/connector-api';
import { text } from '../_shared/read.js';
import { KafkaClient, type KafkaTarget } from './client.js';
import { describeFailure, type TestedFields } from './test-failures.js';
import { readInputSettings } from './config.js';
import { readInputTarget, readOutputTarget } from './config.js';

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
    return failed('not_found', 'Signed in, but no topic matches.', {
      hint: 'A pattern must match from the start of the name.',
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

/** Creates a tester that signs in and runs `check`. */
export function createKafkaTester(
  read: (config: TesterConfig, egress: Egress) => KafkaTarget | Failure,
  fields: TestedFields,
  check: (admin: Admin, config: TesterConfig) => Promise<TestOutcome>,
  subject: Subject = { product: 'Kafka', address: '/settings/bootstrap_servers' },
): Tester {
  return createApiTester(subject, async (config, context) => {
    const target = read(config, context.egress);
    if ('ok' in target) return target;
    await target.prepare?.(context.signal);
    const client = new KafkaClient(target, context.egress, { requestTimeout: 8_000, retries: 0 });
    const stop = (): void => client.destroy();
    context.signal.addEventListener('abort', stop, { once: true });
    const admin = client.kafka.admin();
    try {
      await admin.connect();
      return await check(admin, config);
    } catch (error) {
      context.signal.throwIfAborted();
      return describeFailure(client.explain(error), fields);
    } finally {
      context.signal.removeEventListener('abort', stop);
      await client.close(() => admin.disconnect());
    }
  });
}
