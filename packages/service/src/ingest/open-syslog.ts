import type { Catalog } from '@connector-frame/catalog';
import { connectors } from '@connector-frame/connectors';
import type { Logger } from 'pino';
import { systemClock as clock } from '../clock.js';
import type { Env } from '../env.js';
import type { Store } from '../store/store.js';
import type { SyslogSettings } from './ingest-context.js';
import { createListenAt, type ListenAtOf } from './listen-at.js';
import { assignPorts } from '../connectors/ports.js';

type SyslogEnv = Pick<
  Env,
  'SYSLOG_HOST' | 'SYSLOG_PORTS' | 'SYSLOG_PUBLIC_HOST' | 'SYSLOG_TLS_KEY' | 'SYSLOG_TLS_CERT' | 'PUBLIC_URL'
>;

/** Reads the public address for syslog senders from the environment. */
export const syslogSettings = ({
  SYSLOG_PUBLIC_HOST,
  SYSLOG_PORTS,
  PUBLIC_URL,
}: SyslogEnv): Required<SyslogSettings> => ({
  publicHost: SYSLOG_PUBLIC_HOST ?? new URL(PUBLIC_URL ?? 'http://localhost').hostname.replace(/^\[(.*)\]$/, '$1'),
  ports: SYSLOG_PORTS,
});

/**
 * Assigns missing ports to inputs that listen, and reads the operator's certificate.
 * @param folder the engine's folder, which also holds a self-signed certificate
 * @throws Error when the operator's certificate can't be read
 */
export async function openSyslog(
  env: SyslogEnv,
  { store, catalog, folder, log }: { store: Store; catalog: Catalog; folder: string; log: Logger },
): Promise<ListenAtOf> {
  const { SYSLOG_TLS_KEY: key, SYSLOG_TLS_CERT: cert, SYSLOG_HOST: host } = env;
  const { ports: range, publicHost } = syslogSettings(env);
  const files = key !== undefined && cert !== undefined ? { files: { key, cert } } : {};
  const listenAt = createListenAt({ catalog, connectors, clock, host, range, publicHost, folder, ...files });
  const types = catalog.list('input').filter((type) => connectors(type).listens === true);
  await assignPorts(
    store,
    types.map((type) => type.type_id),
    { range, log },
  );
  return listenAt;
}
