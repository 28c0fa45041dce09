import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AwsWorld } from './aws-world.js';
import { startServer } from './brokers/start-server.js';
import { freePort } from './free-port.js';

const run = promisify(execFile);
const VERSION = '5.2.1';
const keys = { accessKeyId: 'AKIACANARYMOTOACCESS', secretAccessKey: 'canary/secret+of+moto0123456789abcdefghi' };

/** Installs moto, a mock of AWS that others wrote, once for this machine. */
async function install(): Promise<string> {
  const folder = join(tmpdir(), `connector-frame-moto-${VERSION}`);
  const program = join(folder, 'bin', 'moto_server');
  if (existsSync(program)) return program;
  await run('python3', ['-m', 'venv', folder]);
  await run(join(folder, 'bin', 'pip'), ['install', '--quiet', `moto[server]==${VERSION}`]);
  return program;
}

/** Starts moto. It does not verify signatures. */
export async function startMoto(): Promise<AwsWorld> {
  const port = await freePort();
  const program = await install();
  const server = await startServer(program, ['-H', '127.0.0.1', '-p', String(port)], port, 'pip install moto[server]');
  const origin = `http://127.0.0.1:${port}`;
  const authorization = (service: string): string =>
    `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=0`;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
  async function call(target: string, body: object): Promise<Record<string, any>> {
    const [service = ''] = target.split('.');
    const response = await fetch(origin, {
      method: 'POST',
      headers: {
        authorization: authorization({ AmazonSQS: 'sqs', Logs_20140328: 'logs' }[service] ?? 'dynamodb'),
        'content-type': `application/x-amz-json-${service === 'Logs_20140328' ? '1.1' : '1.0'}`,
        'x-amz-target': target,
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    const text = await response.text();
    return text === '' ? {} : JSON.parse(text);
  }
  const object = (path: string, body?: Uint8Array | string) =>
    fetch(`${origin}/${path}`, {
      method: 'PUT',
      headers: { authorization: authorization('s3') },
      ...(body && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
  return {
    origin,
    keys,
    call,
    createQueue: async (name) => (await call('AmazonSQS.CreateQueue', { QueueName: name }))['QueueUrl'],
    async send(QueueUrl, MessageBody) {
      await call('AmazonSQS.SendMessage', { QueueUrl, MessageBody });
    },
    async left(QueueUrl) {
      const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'];
      const { Attributes } = await call('AmazonSQS.GetQueueAttributes', { QueueUrl, AttributeNames });
      return AttributeNames.reduce((sum, name) => sum + Number(Attributes[name]), 0);
    },
    async put(bucket, key, content) {
      await object(bucket);
      const path = `${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
      const { ok } = await object(path, content);
      if (!ok) throw new Error(`${path} was not written.`);
    },
    close: () => server.kill(),
  };
}
