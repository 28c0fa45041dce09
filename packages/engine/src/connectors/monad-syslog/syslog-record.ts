import type { Frame } from './frame-splitter.js';
import { parseMessage } from './parse-message.js';

/** How a message came. */
export interface Origin {
  transport: 'udp' | 'tcp' | 'tls';
  /** Address of the sender, or of the last one that passed it on. */
  peer: string;
}

/** A message as the JSON of a record. Bytes that are not UTF-8 become U+FFFD. */
export function syslogLine({ bytes, truncated }: Frame, { transport, peer }: Origin, now: number): string {
  return JSON.stringify({
    ...parseMessage(bytes.toString('utf8'), now),
    ...(truncated && { truncated }),
    transport,
    peer,
    received_at: new Date(now).toISOString(),
  });
}

/** An address of IPv4 also where a socket of IPv6 has it. */
export const peerOf = (address: string | undefined): string => (address ?? '').replace(/^::ffff:(?=[\d.]+$)/, '');
