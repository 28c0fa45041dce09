import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  /** Recipients of the envelope. */
  to: string[];
  from: string;
  /** Headers and text, as sent. */
  raw: string;
}

export interface MailServer {
  url: string;
  mails: ReceivedMail[];
  /** Rejects all mails from now on. */
  reject(): void;
  close(): Promise<void>;
}

/** Starts a real SMTP server on loopback, without TLS and passwords. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let isRejecting = false;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onData(stream, session, done) {
      let raw = '';
      stream.on('data', (chunk: Buffer) => (raw += chunk.toString()));
      stream.on('end', () => {
        if (isRejecting) {
          done(new Error('mailbox unavailable'));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({ to: rcptTo.map(({ address }) => address), from: mailFrom ? mailFrom.address : '', raw });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    reject: () => {
      isRejecting = true;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Returns the link in a mail, whose lines may be wrapped (quoted-printable). */
export function linkIn({ raw }: ReceivedMail): string {
  const text = raw.replaceAll(/=\r\n/g, '').replaceAll('=3D', '=');
  return /https:\/\/\S+/.exec(text)?.[0] ?? '';
}
