import { CONNECTOR_KINDS, exampleConfig, loadCatalog } from '@connector-frame/catalog';
import { getAt } from '@connector-frame/catalog/validate';
import { describe, expect, it } from 'vitest';
import { createLookup, fill, fillAll } from './fill.js';

const values: Record<string, unknown> = {
  '/settings/bucket': ' acme-logs ',
  '/settings/groups': ['/aws/a', '', '/aws/b'],
  '/settings/queue_url': 'https://sqs.us-east-1.amazonaws.com/123456789012/log-files.fifo',
  '/settings/account_url': 'https://acmelogs.blob.core.windows.net/',
  '/settings/text': '{{/settings/bucket}} $&',
  '/secrets/token': 'canary-token',
  '/secrets/key': JSON.stringify({
    client_email: 'reader@acme.iam.gserviceaccount.com',
    client_id: '104711',
    private_key: 'canary-key',
  }),
  '/secrets/id': '8d5f0c1e-4b7a-4c1d-9a52-6f3e2d1c0b9a',
};
const lookup = createLookup((path) => values[path], { partition: 'aws-cn', public_key: undefined });

describe('a template', () => {
  it.each([
    ['arn:{{partition}}:s3:::{{/settings/bucket}}/*', ['arn:aws-cn:s3:::acme-logs/*']],
    ['{{/settings/groups}}:*', ['/aws/a:*', '/aws/b:*']],
    // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-message-identifiers.html
    ['{{/settings/queue_url:queue}}', ['123456789012:log-files.fifo']],
    ['{{/settings/account_url:account}}', ['acmelogs']],
    ['{{/secrets/key:client_email}} {{/secrets/key:client_id}}', ['reader@acme.iam.gserviceaccount.com 104711']],
    ['{{/secrets/id:guid}}', ['8d5f0c1e-4b7a-4c1d-9a52-6f3e2d1c0b9a']],
    ['{{/settings/text}}', ['{{/settings/bucket}} $&']],
    // What is missing is never left out: `arn:aws:s3:::*` would allow everything.
    ['{{/settings/none}}/{{/settings/none:optional}}*', ['<none>/*']],
    ['{{/settings/bucket:queue}}', ['<bucket>']],
    ['{{/secrets/token:client_email}}', ['<client_email>']],
    ['{{/secrets/token:public_key}}', ['<public_key>']],
    // The build rejects these.
    ['{{/secrets/token}} {{/secrets/token:optional}} {{/secrets/token:guid}}', ['<token>  <token>']],
  ])('%s', (template, expected) => {
    expect(fillAll(template, lookup)).toEqual(expected);
  });
});

const catalog = loadCatalog();
const types = CONNECTOR_KINDS.flatMap((kind) => catalog.list(kind)).filter(({ setup }) => setup);

it.each(types.map((type) => [`${type.kind} ${type.type_id}`, type] as const))(
  'the texts of %s show no secret, and its resources are ARNs',
  (_, { config, setup }) => {
    const example = exampleConfig(config, { optional: true });
    const ofExample = createLookup((path) => getAt(example, path), { partition: 'aws' });
    const texts = setup?.steps?.map(({ text }) => fill(text, ofExample)) ?? [];
    // The ID of an application is no secret, and the example of a tenant's ID equals it.
    const others = Object.entries(example.secrets).filter(([, secret]) => secret !== example.secrets['client_id']);
    for (const [key, secret] of others) for (const text of texts) expect(text, key).not.toContain(secret);
    for (const resource of setup?.aws_role?.statements?.flatMap(({ resources }) => resources) ?? [])
      for (const filled of fillAll(resource, ofExample))
        expect(filled).toMatch(/^(?:\*|arn:aws:[a-z0-9-]+:(?:[a-z0-9-]*|\*|<region>):(?:\d{12}|\*)?:[^\s{}]+)$/);
  },
);
