import { withDefaults } from '@connector-frame/catalog/validate';
import type { AwsObjectsDefinition, ConnectorTypeData } from '@connector-frame/catalog/types';
import { systemClock, type Tester, type TestOutcome } from '@connector-frame/engine/connector-api';
import { createApiTester } from '../_shared/api/create-api-tester.js';
import { awsEndpoint, type AwsEndpoint } from '../_shared/aws/endpoint.js';
import { unexpected } from '../_shared/connection-test/failures.js';
import { passed } from '../_shared/connection-test/outcome.js';
import { openBucket, openQueue, subjectOf, type OpenContext } from './open.js';
import { fill } from './read-definition.js';

const RIGHTS = 'It needs s3:ListBucket on the bucket and s3:GetObject on its objects.';

/** Creates a tester that lists one object, or reads the number of messages. It receives no message. */
export function createAwsObjectsTester(
  type: ConnectorTypeData,
  definition: AwsObjectsDefinition,
  endpoint: AwsEndpoint = awsEndpoint,
): Tester {
  const test = createApiTester({ product: type.vendor }, async (given, { egress, signal, aws: roles }) => {
    const config = withDefaults(type.config, given);
    const context = { type, definition, config, egress, clock: systemClock, roles, endpoint };
    return definition.queue ? testQueue(context, signal) : testBucket(context, signal);
  });
  return async (config, context) => atFieldsOf(definition, await test(config, context));
}

async function testQueue(context: OpenContext, signal: AbortSignal): Promise<TestOutcome> {
  const count = await openQueue(context).check(signal);
  if (count === undefined) return passed('May delete messages of the queue. None was received');
  return passed(count === 0 ? 'Found the queue: no message is waiting' : 'Found the queue: messages are waiting');
}

async function testBucket(context: OpenContext, signal: AbortSignal): Promise<TestOutcome> {
  const client = openBucket(context);
  const prefix = fill(context.definition.bucket?.prefix ?? '', context.config);
  const query = new URLSearchParams({ 'list-type': '2', 'max-keys': '1', prefix });
  const response = await client.send('GET', `?${query}`, [200], { signal });
  if ('isError' in response) throw client.problem(response, RIGHTS);
  const body = await response.text();
  if (!body.includes('<ListBucketResult')) return unexpected(subjectOf(context));
  return passed(body.includes('<Key>') ? 'Listed the bucket: there are files' : 'Listed the bucket: no file there yet');
}

/** Moves issues from the fields of the S3 types to those of this one. */
function atFieldsOf({ access, bucket }: AwsObjectsDefinition, outcome: TestOutcome): TestOutcome {
  if (outcome.ok || !outcome.issues) return outcome;
  const fields = new Map<string, string | undefined>([
    ['/secrets/access_key', access.access_key_id],
    ['/secrets/secret_key', access.secret_access_key],
    ['/settings/role_arn', access.role_arn],
    ['/settings/region', access.region],
    ['/settings/bucket', bucket?.name],
  ]);
  const issues = outcome.issues.flatMap((issue) => {
    const path = fields.has(issue.path) ? fields.get(issue.path) : issue.path;
    return path === undefined ? [] : [{ ...issue, path }];
  });
  return { ...outcome, issues };
}
