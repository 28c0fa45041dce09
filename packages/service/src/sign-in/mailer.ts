/** A mail in plain text. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Sends mails to users. */
export interface Mailer {
  /** @throws Error if the server does not accept the mail */
  send(mail: Mail): Promise<void>;
}

/** Milliseconds for a connection to the mail server, and for each of its responses. */
const TIMEOUT_MS = 10_000;

/**
 * Creates a mailer.
 * @param url `smtps://user:password@host:465`, or `smtp://`, which requires STARTTLS before a password
 *   is sent to another machine
 * @param from address of the sender
 */
export function createMailer(url: string, from: string): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === 'smtps:';
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const options = {
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: Number(port || (secure ? 465 : 587)),
    secure,
    requireTLS: !secure && !isLocal,
    ignoreTLS: !secure && isLocal,
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return {
    async send({ to, subject, text }) {
      const { createTransport } = await import('nodemailer');
      // An address list or a line break would add recipients or headers.
      const message = { from, to: { name: '', address: oneLine(to) }, subject: oneLine(subject), text };
      await createTransport(options).sendMail(message);
    },
  };
}

/** Returns a text without line breaks and other control characters, at most 200 characters. */
export const oneLine = (text: string): string => text.replaceAll(/\p{C}+/gu, ' ').slice(0, 200);
