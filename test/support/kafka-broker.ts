import { createServer as createTcp, type Server, type Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import type { Certificate } from './certificate.js';
import { Scram } from './kafka-scram.js';
import { Reader, Writer } from './kafka-wire.js';

/**
 * A single broker that implements as much of Kafka's wire protocol as a producer, a connection test
 * and the start of a consumer need. Unlike the mock brokers of `kafka.ts`, it supports TLS,
 * authentication, authorization errors, limits, and a separate advertised address.
 * https://kafka.apache.org/protocol.html
 */
export interface KafkaBrokerOptions {
  /** Number of partitions, by topic. */
  topics: Readonly<Record<string, number>>;
  tls?: Certificate;
  /** Passwords by user; absent: no authentication. */
  users?: Readonly<Record<string, string>>;
  /** Tokens that OAUTHBEARER accepts (RFC 7628). */
  tokens?: readonly string[];
  /** Defaults to the listening address. */
  advertise?: { host: string; port: number };
  /** Returns the protocol's error code of a response; 0 or undefined for none. */
  error?(api: KafkaApi, topic: string, records: Buffer): number | undefined;
  /** Text it puts into every text field of a response. */
  says?: string;
}

export type KafkaApi = 'Produce' | 'Metadata' | 'InitProducerId' | 'FindCoordinator' | 'OffsetFetch' | 'ListOffsets';

export interface KafkaBroker {
  port: number;
  /** Accepted message sets, as received. */
  taken: { topic: string; partition: number; records: Buffer }[];
  requests: string[];
  connections(): number;
  close(): Promise<void>;
}

/**
 * API key, lowest and highest supported version. Each range lies within that of Apache Kafka 4.1,
 * which dropped older versions (KIP-896).
 */
const apis = {
  Produce: [0, 3, 3],
  ListOffsets: [2, 1, 1],
  Metadata: [3, 1, 1],
  OffsetFetch: [9, 1, 1],
  FindCoordinator: [10, 0, 0],
  SaslHandshake: [17, 1, 1],
  ApiVersions: [18, 0, 0],
  InitProducerId: [22, 0, 0],
  SaslAuthenticate: [36, 0, 0],
} as const;

export async function startKafkaBroker(options: KafkaBrokerOptions): Promise<KafkaBroker> {
  const broker = { taken: [] as KafkaBroker['taken'], requests: [] as string[] };
  const sockets = new Set<Socket>();
  let connections = 0;
  let port = 0;
  const serve = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    const session = new Session(options, () => options.advertise ?? { host: '127.0.0.1', port }, broker);
    let rest = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE()) {
        const end = 4 + rest.readInt32BE();
        const reply = session.reply(new Reader(rest.subarray(4, end)));
        rest = rest.subarray(end);
        if (reply === 'hang up') socket.destroy();
        else if (reply) socket.write(reply);
      }
    });
  };
  const server: Server = options.tls ? createTls(options.tls, serve) : createTcp(serve);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  port = address.port;
  return {
    ...broker,
    port,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** The state of one connection. */
class Session {
  #user: string | undefined;
  #scram: Scram | undefined;
  #mechanism = '';

  constructor(
    private readonly options: KafkaBrokerOptions,
    private readonly address: () => { host: string; port: number },
    private readonly broker: Pick<KafkaBroker, 'taken' | 'requests'>,
  ) {}

  reply(request: Reader): Buffer | 'hang up' | undefined {
    const [key, version, correlation] = [request.int16(), request.int16(), request.int32()];
    request.text();
    const [name, [, low, high] = [0, 0, 0]] = Object.entries(apis).find(([, [number]]) => number === key) ?? [];
    if (name === undefined) return 'hang up';
    // Clients ask for the versions before they know them; the response then has the oldest format.
    if (name !== 'ApiVersions' && (version < low || version > high)) return 'hang up';
    this.broker.requests.push(name);
    const open = name === 'ApiVersions' || name.startsWith('Sasl');
    if ((this.options.users ?? this.options.tokens) && this.#user === undefined && !open) return 'hang up';
    const body = new Writer();
    body.int32(correlation);
    if (this.#write(name, request, body) === 'nothing') return undefined;
    return body.frame();
  }

  #write(name: string, request: Reader, body: Writer): 'nothing' | undefined {
    switch (name) {
      case 'ApiVersions':
        body.int16(0);
        body.list(Object.values(apis), (versions) => versions.forEach((each) => body.int16(each)));
        return undefined;
      case 'SaslHandshake':
        this.#mechanism = request.text() ?? '';
        body.int16((this.options.users ?? this.options.tokens) ? 0 : 33);
        body.list(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'], (each) => body.text(each));
        return undefined;
      case 'SaslAuthenticate':
        this.#authenticate(request.bytes(), body);
        return undefined;
      case 'Metadata':
        this.#metadata(request, body);
        return undefined;
      case 'InitProducerId':
        body.int32(0).int16(this.#error('InitProducerId')).int64(7n).int16(0);
        return undefined;
      case 'FindCoordinator':
        body.int16(this.#error('FindCoordinator')).int32(1).text(this.address().host).int32(this.address().port);
        return undefined;
      case 'OffsetFetch':
        request.text();
        body.list(
          request.list(() => ({ topic: request.text() ?? '', partitions: request.list(() => request.int32()) })),
          ({ topic, partitions }) => {
            body.text(topic).list(partitions, (partition) => {
              body
                .int32(partition)
                .int64(-1n)
                .text(this.options.says ?? '')
                .int16(this.#error('OffsetFetch', topic));
            });
          },
        );
        return undefined;
      case 'ListOffsets':
        request.int32();
        body.list(
          request.list(() => ({
            topic: request.text() ?? '',
            partitions: request.list(() => ({ partition: request.int32(), time: request.int64() })),
          })),
          ({ topic, partitions }) => {
            body.text(topic).list(partitions, ({ partition, time }) => {
              body
                .int32(partition)
                .int16(this.#error('ListOffsets', topic))
                .int64(-1n)
                .int64(time === -2n ? 0n : 10n);
            });
          },
        );
        return undefined;
      default:
        return this.#produce(request, body);
    }
  }

  #error(api: KafkaApi, topic = '', records: Buffer = Buffer.alloc(0)): number {
    return this.options.error?.(api, topic, records) ?? 0;
  }

  #metadata(request: Reader, body: Writer): void {
    const requested = request.list(() => request.text() ?? '');
    const { topics, says = '' } = this.options;
    const { host, port } = this.address();
    body.list([1], (id) => body.int32(id).text(host).int32(port).text(says));
    body.int32(1);
    body.list(requested.length > 0 ? requested : Object.keys(topics), (topic) => {
      const partitions = topics[topic];
      body
        .int16(this.#error('Metadata', topic) || (partitions === undefined ? 3 : 0))
        .text(topic)
        .int8(0);
      body.list(
        Array.from({ length: partitions ?? 0 }, (_each, id) => id),
        (id) => {
          body.int16(0).int32(id).int32(1);
          body.list([1], (each) => body.int32(each));
          body.list([1], (each) => body.int32(each));
        },
      );
    });
  }

  #produce(request: Reader, body: Writer): 'nothing' | undefined {
    request.text();
    const acks = request.int16();
    request.int32();
    const topics = request.list(() => ({
      topic: request.text() ?? '',
      partitions: request.list(() => ({ partition: request.int32(), records: request.bytes() })),
    }));
    body.list(topics, ({ topic, partitions }) => {
      body.text(topic).list(partitions, ({ partition, records }) => {
        const error = this.#error('Produce', topic, records);
        if (error === 0) this.broker.taken.push({ topic, partition, records });
        body.int32(partition).int16(error).int64(0n).int64(-1n);
      });
    });
    body.int32(0);
    return acks === 0 ? 'nothing' : undefined;
  }

  #authenticate(sent: Buffer, body: Writer): void {
    const { users = {}, tokens = [], says = '' } = this.options;
    let reply: Buffer | undefined;
    if (this.#mechanism === 'PLAIN') {
      const [, user = '', password = ''] = sent.toString().split('\0');
      if (Object.hasOwn(users, user) && users[user] === password) {
        this.#user = user;
        reply = Buffer.alloc(0);
      }
    } else if (this.#mechanism === 'OAUTHBEARER') {
      const [head, authorization = ''] = sent.toString().split(String.fromCodePoint(1));
      const token = head === 'n,,' ? /^auth=Bearer (.+)$/.exec(authorization)?.[1] : undefined;
      if (token !== undefined && tokens.includes(token)) {
        this.#user = 'token';
        reply = Buffer.alloc(0);
      }
    } else {
      this.#scram ??= new Scram(this.#mechanism === 'SCRAM-SHA-512' ? 'sha512' : 'sha256', users);
      reply = this.#scram.reply(sent.toString());
      this.#user = this.#scram.user;
    }
    body
      .int16(reply ? 0 : 58)
      .text(reply ? null : `wrong ${says} ${sent.toString('latin1')}`)
      .bytes(reply ?? Buffer.alloc(0));
  }
}
