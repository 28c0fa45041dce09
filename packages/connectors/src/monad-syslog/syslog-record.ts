import type { Frame } from './frame-splitter.js';
import { parseMessage } from './parse-message.js';

/** How a message was received. */
export interface Origin {
  transport: 'udp' | 'tcp' | 'tls';
  /** Address of the sender, or of the last relay. */
  peer: string;
}

/** Converts a message to the JSON of a record. Invalid UTF-8 becomes U+FFFD. */
export function syslogLine({ bytes, truncated }: Frame, { transport, peer }: Origin, now: number): string {
  return JSON.stringify({
    ...parseMessage(bytes.toString('utf8'), now),
    ...(truncated && { truncated }),
    transport,
    peer,
    received_at: new Date(now).toISOString(),
  });
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
export const peerOf = (address: string | undefined): string => (address ?? '').replace(/^::ffff:(?=[\d.]+$)/, '');
