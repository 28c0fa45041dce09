import { simpleParser, type ParsedMail } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Certificate } from './certificate.js';

/** A message that the server took, parsed by an independent library. */
export interface ReceivedMail {
  from: string;
  /** Recipients of the envelope. */
  to: string[];
  /** Whether it arrived over an encrypted connection, and as whom. */
  isSecure: boolean;
  user: string | undefined;
  mail: ParsedMail;
  raw: string;
}

export interface MailServerOptions {
  tls?: Certificate;
  /** TLS from the start. Default: STARTTLS if there is a certificate. */
  secure?: boolean;
  /** The only user. Default: no authentication. */
  user?: { name: string; password: string };
  /** Throws or returns an error for a recipient that is not accepted. */
  recipient?: (address: string) => Error | undefined;
  sender?: (address: string) => Error | undefined;
  /** Returns an error for a message that is not taken. */
  message?: (raw: string) => Error | undefined;
  /** Default: any free one. */
  port?: number;
  more?: SMTPServerOptions;
}

export interface RunningMailServer {
  port: number;
  received: ReceivedMail[];
  /** Connections accepted so far. */
  connections(): number;
  close(): Promise<void>;
}

/** An error with the reply code of a mail server. */
export const replyOf = (responseCode: number, message = 'No.'): Error =>
  Object.assign(new Error(message), { responseCode });

/** Starts a real SMTP server (the package `smtp-server`) on this machine. */
export async function startMailServer(options: MailServerOptions = {}): Promise<RunningMailServer> {
  const { tls, secure = false, user, recipient, sender, message, port = 0, more } = options;
  const received: ReceivedMail[] = [];
  let connections = 0;
  const server = new SMTPServer({
    secure,
    ...(tls && { key: tls.key, cert: tls.cert }),
    authOptional: user === undefined,
    disabledCommands: [...(user ? [] : ['AUTH']), ...(tls ? [] : ['STARTTLS'])],
    closeTimeout: 100,
    disableReverseLookup: true,
    onConnect(_session, done) {
      connections += 1;
      done();
    },
    onAuth({ username, password }, _session, done) {
      if (username === user?.name && password === user?.password) done(null, { user: username });
      else done(replyOf(535, `Invalid login: ${username} ${password}`));
    },
    onMailFrom: ({ address }, _session, done) => done(sender?.(address)),
    onRcptTo: ({ address }, _session, done) => done(recipient?.(address)),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      const receive = async (): Promise<void> => {
        const bytes = Buffer.concat(chunks);
        const refusal = message?.(bytes.toString());
        if (refusal) {
          done(refusal);
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          isSecure: session.secure,
          user: typeof session.user === 'string' ? session.user : undefined,
          mail: await simpleParser(bytes),
          raw: bytes.toString(),
        });
        done();
      };
      stream.once('end', () => void receive());
    },
    ...more,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    received,
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
