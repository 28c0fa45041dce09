import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';

export interface SftpTarget {
  host: string;
  port: number;
  username: string;
  password?: string;
  privateKey?: string;
  /** SHA-256 of the server's key in Base64 without `=`. Absent: any key. */
  hostKey: string | undefined;
  /** Without a slash at its end; empty: where the user is after signing in. */
  folder: string;
}

/** @throws ConnectorError `invalid_config` */
export function readSftpTarget({ settings, secrets }: TesterConfig, folder: string): SftpTarget {
  const [host, username] = [text(settings, 'host'), text(settings, 'username')];
  const given = at(secrets, 'credentials') ?? at(secrets, 'password');
  if (host === undefined || username === undefined || typeof given !== 'string' || given === '')
    throw invalidConfig('A host, a user name and a password or key are required.');
  const path = text(settings, folder) ?? '';
  return {
    host,
    port: Number(at(settings, 'port') ?? 22),
    username,
    // A password may begin or end with spaces.
    ...(given.includes('PRIVATE KEY-----') ? { privateKey: `${given.trim()}\n` } : { password: given }),
    hostKey: text(settings, 'host_key')
      ?.replace(/^SHA256:/, '')
      .replace(/=+$/, ''),
    folder: path === '/' ? '/' : path.replace(/\/+$/, ''),
  };
}
