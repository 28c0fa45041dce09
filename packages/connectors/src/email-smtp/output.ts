import { type Batch, ConnectorError, type CreateOutput, type Output } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { readMailSettings, type MailSettings } from './config.js';
import { smtpErrorIn, toConnectorError } from './failures.js';
import { buildMessage } from './message.js';
import { openSession, type MailSession } from './session.js';

/** Records and bytes of one message, and milliseconds between two messages. */
const MAX_RECORDS = 100;
const MAX_BYTES = 256 * 1024;
const EVERY_MS = 10_000;
/** Messages of which the recipients that already got them are remembered. */
const MAX_REMEMBERED = 100;

/**
 * Sends records as messages: what arrives within ten seconds after a message is in the next one. A
 * message is written once the server is responsible for it for every recipient.
 */
export const createEmailOutput: CreateOutput = (config, { egress, clock }): Output => {
  const read = readMailSettings(config);
  if (!('server' in read)) throw invalidConfig(read.message);
  const mail: MailSettings = read;
  const delivered = new Map<string, Set<string>>();

  async function withSession<T>(signal: AbortSignal, work: (session: MailSession) => Promise<T>): Promise<T> {
    let session: MailSession | undefined;
    try {
      session = await openSession(mail.server, egress, signal);
      return await work(session);
    } catch (error) {
      throw toConnectorError(error);
    } finally {
      session?.close();
    }
  }

  /** Remembers who has a message, so that a retry does not send it to them again. */
  function remember(id: string, recipients: readonly string[]): ReadonlySet<string> {
    const known = delivered.get(id) ?? new Set<string>();
    for (const recipient of recipients) known.add(recipient);
    delivered.delete(id);
    delivered.set(id, known);
    for (const oldest of delivered.keys()) {
      if (delivered.size <= MAX_REMEMBERED) break;
      delivered.delete(oldest);
    }
    return known;
  }

  return {
    batching: { records: MAX_RECORDS, bytes: MAX_BYTES, waitMs: EVERY_MS, waitFrom: 'write' },
    retry: { firstMs: 1_000 },
    open: (signal) => withSession(signal, () => Promise.resolve()),
    write: (batch, signal) =>
      withSession(signal, async (session) => {
        const known = remember(batch.id, []);
        const open = mail.to.filter((recipient) => !known.has(recipient));
        const message = await buildMessage(batch, { from: mail.from, to: mail.to, now: clock.now() });
        const sent = await send(session, open, message);
        if (sent === 'refused') return { refused: [{ indexes: indexesOf(batch), reason: REFUSED }] };
        remember(batch.id, sent.accepted);
        if (sent.later > 0) {
          const text = `The mail server accepts ${sent.later} of ${mail.to.length} recipients only later.`;
          throw new ConnectorError('upstream_error', text, 'retry');
        }
        delivered.delete(batch.id);
        if (sent.never === 0) return {};
        // The others have the message. Waiting for this recipient would hold up everything after it.
        const reason = `The mail server accepts ${sent.never} of ${mail.to.length} recipients never.`;
        return { rejected: indexesOf(batch).map((index) => ({ index, reason })) };
      }),
  };

  async function send(session: MailSession, to: readonly string[], message: Buffer): Promise<Sent | 'refused'> {
    try {
      const { accepted, rejectedErrors = [] } = await session.send(mail.from, to, message);
      const later = rejectedErrors.filter(({ responseCode = 0 }) => responseCode < 500).length;
      return { accepted, later, never: rejectedErrors.length - later };
    } catch (error) {
      const { command = '', reply = 0 } = smtpErrorIn(error) ?? {};
      if (command === 'DATA' && reply >= 500) return 'refused';
      throw error;
    }
  }
};

interface Sent {
  accepted: readonly string[];
  /** Number of recipients that the server may accept later, and that it never accepts. */
  later: number;
  never: number;
}

const REFUSED = 'The mail server does not accept the message of this record.';
const indexesOf = (batch: Batch): number[] => [...batch.lines.keys()];
