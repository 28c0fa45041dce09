import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';

export interface MailboxTarget {
  host: string;
  port: number;
  /** `starttls`: required before signing in. */
  encryption: 'tls' | 'starttls' | 'none';
  user: string;
  password: string;
  folder: string;
  fromStart: boolean;
  attachments: boolean;
  /** Characters of a body. */
  maxBody: number;
}

/** A record may have 512 KiB. */
const MAX_BODY = 100_000;
const STARTTLS_PORT = 143;

/** @throws ConnectorError `invalid_config` */
export function readMailboxTarget({ settings, secrets }: TesterConfig): MailboxTarget {
  const [, host, given] = /^\[?([^\s[\]]+?)\]?(?::(\d{1,5}))?$/.exec(text(settings, 'server') ?? '') ?? [];
  const [user, password] = [text(settings, 'username'), at(secrets, 'password')];
  if (host === undefined || user === undefined || typeof password !== 'string' || password === '')
    throw invalidConfig('A server, a user name and a password are required.');
  const isPlain = at(settings, 'is_insecure') === true;
  const port = given === undefined ? (isPlain ? STARTTLS_PORT : 993) : Number(given);
  const limit = at(settings, 'max_body_size');
  return {
    host,
    port,
    encryption: isPlain ? 'none' : port === STARTTLS_PORT ? 'starttls' : 'tls',
    user,
    password,
    folder: text(settings, 'inbox_name') ?? 'INBOX',
    fromStart: at(settings, 'from_zero') === true,
    attachments: at(settings, 'include_attachments') === true,
    maxBody: typeof limit === 'number' && limit > 0 ? limit : MAX_BODY,
  };
}
