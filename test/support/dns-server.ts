import { createSocket, type RemoteInfo } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { decode, encode, type StringAnswer } from 'dns-packet';
import type { Lookup } from '../../packages/engine/src/egress/dial.js';

export interface DnsServer {
  /** Names looked up so far, in order. A lookup sends an A and an AAAA query and counts once. */
  readonly asked: readonly string[];
  /** Resolves a name through this server, over UDP. */
  lookup: Lookup;
  close(): Promise<void>;
}

/**
 * Starts a DNS server on loopback whose responses the test decides, per lookup.
 * @param answer returns the IPv4 and IPv6 addresses of a name; `turn` counts the lookups of that
 *   name from 0
 */
export async function startDnsServer(answer: (name: string, turn: number) => readonly string[]): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const turns = new Map<string, number>();
  const asked: string[] = [];

  socket.on('message', (message: Buffer, from: RemoteInfo) => {
    const { id, questions = [] } = decode(message);
    const [question] = questions;
    if (!question) return;
    const name = question.name.toLowerCase();
    const addresses = answer(name, turns.get(name) ?? 0);
    const wanted = addresses.filter((address) => (isIPv6(address) ? 'AAAA' : 'A') === question.type);
    const type = question.type === 'AAAA' ? 'AAAA' : 'A';
    const answers = wanted.map((data): StringAnswer => ({ type, name: question.name, ttl: 0, data }));
    const flags = 0x0400 | 0x0080;
    socket.send(encode({ type: 'response', id: id ?? 0, flags, questions, answers }), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));

  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    asked,
    async lookup(text) {
      const name = text.toLowerCase();
      asked.push(name);
      const kinds = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      turns.set(name, (turns.get(name) ?? 0) + 1);
      return kinds.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    },
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
