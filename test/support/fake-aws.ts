import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { AwsWorld } from './aws-world.js';
import { listenHttp } from './listener.js';

interface Message {
  id: string;
  body: string;
  handle: string;
  hidden: boolean;
  times: number;
}

interface Received {
  /** Name of the action of SQS, or the method of a request for an object. */
  action: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: object | Buffer | string;
}

export interface FakeAws extends AwsWorld {
  /** Oldest first. */
  requests: readonly Received[];
  /** Ends the visibility timeout of all messages. */
  expire(queueUrl: string): void;
  /** Returns the bodies of the messages of a queue. */
  bodies(queueUrl: string): string[];
  /** Objects that may not be read. */
  denied: Set<string>;
  /** Actions that fail with a code, once per entry. */
  failing: { action: string; code: string; status?: number }[];
}

const ACCOUNT = '123456789012';

/**
 * Starts a server with the documented requests of SQS, in its JSON protocol, and of reading objects.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html
 */
export async function startFakeAws(): Promise<FakeAws> {
  const queues = new Map<string, Message[]>();
  const objects = new Map<string, Buffer>();
  const denied = new Set<string>();
  const failing: FakeAws['failing'] = [];
  const keys = { accessKeyId: 'AKIACANARYACCESSKEY9', secretAccessKey: 'canary/secret+of+queues0123456789abcdefg' };

  const queueOf = (url: unknown): Message[] | undefined => queues.get(String(url).split('/').at(-1) ?? '');
  const error = (code: string, status = 400): Reply => ({ status, body: { __type: `com.amazonaws.sqs#${code}` } });

  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
  function callQueue(action: string, body: Record<string, any>, origin: string): Reply {
    const at = failing.findIndex((each) => each.action === action);
    const [fails] = at < 0 ? [] : failing.splice(at, 1);
    if (fails) return error(fails.code, fails.status);
    if (action === 'GetQueueUrl')
      return queues.has(body['QueueName'])
        ? { body: { QueueUrl: `${origin}/${ACCOUNT}/${body['QueueName']}` } }
        : error('QueueDoesNotExist');
    const queue = queueOf(body['QueueUrl']);
    if (!queue) return error('QueueDoesNotExist');
    const withHandle = (handle: string) => queue.filter((message) => message.handle === handle);
    switch (action) {
      case 'ReceiveMessage': {
        const received = queue.filter(({ hidden }) => !hidden).slice(0, body['MaxNumberOfMessages'] ?? 1);
        for (const message of received)
          Object.assign(message, { hidden: true, handle: randomUUID(), times: message.times + 1 });
        const Messages = received.map(({ id, handle, body: Body, times }) => ({
          MessageId: id,
          ReceiptHandle: handle,
          Body,
          Attributes: { ApproximateReceiveCount: String(times) },
        }));
        return { body: Messages.length > 0 ? { Messages } : {} };
      }
      case 'SendMessageBatch': {
        const entries: { Id: string; MessageBody: string; MessageDeduplicationId?: string }[] = body['Entries'];
        if (entries.length === 0) return error('EmptyBatchRequest');
        if (entries.length > 10) return error('TooManyEntriesInBatchRequest');
        const faultOf = ({ MessageBody }: { MessageBody: string }) =>
          ['poison', 'busy'].find((word) => MessageBody.includes(word));
        const good = entries.filter((entry) => faultOf(entry) === undefined);
        for (const { MessageBody, MessageDeduplicationId: id = randomUUID() } of good)
          if (!queue.some((message) => message.id === id))
            queue.push({ id, body: MessageBody, handle: '', hidden: false, times: 0 });
        const Failed = entries
          .filter((entry) => faultOf(entry) !== undefined)
          .map((entry) => ({ Id: entry.Id, SenderFault: faultOf(entry) === 'poison', Code: 'InvalidMessageContents' }));
        return { body: { Successful: good.map(({ Id }) => ({ Id, MessageId: randomUUID() })), Failed } };
      }
      case 'DeleteMessageBatch':
        for (const { ReceiptHandle } of body['Entries'])
          for (const message of withHandle(ReceiptHandle)) queue.splice(queue.indexOf(message), 1);
        return { body: { Successful: body['Entries'].map(({ Id }: { Id: string }) => ({ Id })), Failed: [] } };
      case 'ChangeMessageVisibilityBatch':
        return { body: { Successful: body['Entries'].map(({ Id }: { Id: string }) => ({ Id })), Failed: [] } };
      case 'GetQueueAttributes':
        return { body: { Attributes: { ApproximateNumberOfMessages: String(queue.filter((m) => !m.hidden).length) } } };
      case 'DeleteMessage':
        return error('ReceiptHandleIsInvalid');
      default:
        return error('InvalidAction');
    }
  }

  function readObject({ action, path, headers }: Received): Reply {
    const xml = (code: string, status: number): Reply => ({ status, body: `<Error><Code>${code}</Code></Error>` });
    if (denied.has(path)) return xml('AccessDenied', 403);
    const content = objects.get(path);
    if (!content) return xml('NoSuchKey', 404);
    if (action === 'HEAD') return { headers: { 'content-length': String(content.length) } };
    const [, from] = /^bytes=(\d+)-/.exec(headers.range ?? '') ?? [];
    if (from === undefined) return { body: content };
    const range = `bytes ${from}-${content.length - 1}/${content.length}`;
    return { status: 206, headers: { 'content-range': range }, body: content.subarray(Number(from)) };
  }

  const requests: Received[] = [];
  const server = await listenHttp((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('end', () => {
      const { headers, method = '', url = '' } = incoming;
      const target = headers['x-amz-target'];
      const isQueue = typeof target === 'string';
      const request = {
        action: isQueue ? target.replace('AmazonSQS.', '') : method,
        path: decodeURIComponent(new URL(url, 'http://aws').pathname),
        headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(request);
      const isKnown = headers.authorization?.includes(`Credential=${keys.accessKeyId}/`);
      const reply = !isKnown
        ? error('InvalidClientTokenId', 403)
        : isQueue
          ? callQueue(request.action, JSON.parse(request.body), server.origin)
          : readObject(request);
      const { status = 200, headers: sent, body = '' } = reply;
      response
        .writeHead(status, sent)
        .end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
    });
  });

  return {
    origin: server.origin,
    keys,
    requests,
    denied,
    failing,
    createQueue: (name) => {
      queues.set(name, []);
      return Promise.resolve(`${server.origin}/${ACCOUNT}/${name}`);
    },
    send: (url, body) => {
      queueOf(url)?.push({ id: randomUUID(), body, handle: '', hidden: false, times: 0 });
      return Promise.resolve();
    },
    left: (url) => Promise.resolve(queueOf(url)?.length ?? 0),
    expire(url) {
      for (const message of queueOf(url) ?? []) message.hidden = false;
    },
    bodies: (url) => (queueOf(url) ?? []).map(({ body }) => body),
    put: (bucket, key, content) => {
      objects.set(`/${bucket}/${key}`, Buffer.from(content));
      return Promise.resolve();
    },
    close: () => server.close(),
  };
}
