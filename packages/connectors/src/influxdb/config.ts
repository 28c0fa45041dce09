import { parseKeyPath, type KeyPath, type TesterConfig } from '@connector-frame/engine/connector-api';
import { readTls, type TlsOptions } from '../_shared/delivery/tls.js';
import { invalidConfig } from '../_shared/output/send.js';
import { text, texts } from '../_shared/read.js';
import type { PointFields } from './line-protocol.js';

export interface InfluxTarget {
  /** With its query. */
  url: string;
  authorization: string | undefined;
  tls: TlsOptions;
  point: PointFields;
  /** Field that a refused credential is reported at. */
  credential: string;
}

/** @throws ConnectorError `invalid_config` */
export function readInfluxTarget(config: TesterConfig): InfluxTarget {
  const { settings, secrets } = config;
  const endpoint = text(settings, 'endpoint');
  if (endpoint === undefined || !URL.canParse(endpoint)) throw invalidConfig('There is no address to send to.');
  const isFirst = text(settings, 'version') === '1';
  const url = new URL(isFirst ? '/write' : '/api/v2/write', endpoint);
  const parameters = isFirst
    ? { db: 'database', rp: 'retention_policy_name', consistency: 'consistency' }
    : { org: 'org', bucket: 'bucket' };
  for (const [name, field] of Object.entries(parameters)) {
    const value = text(settings, field);
    if (value !== undefined) url.searchParams.set(name, value);
  }
  url.searchParams.set('precision', isFirst ? 'n' : 'ns');
  const path = (field: string): KeyPath | undefined => {
    const name = text(settings, field);
    return name === undefined ? undefined : pathOf(name);
  };
  return {
    url: url.href,
    authorization: isFirst ? basicOf(text(settings, 'username'), text(secrets, 'password')) : tokenOf(secrets),
    tls: readTls({ group: '/settings/tls' }, config),
    point: {
      measurement: text(settings, 'measurement') ?? '',
      tags: texts(settings, 'tags').map((name) => ({ name, path: pathOf(name) })),
      message: path('message_key'),
      source: path('source_type_key'),
    },
    credential: isFirst ? '/secrets/password' : '/secrets/token',
  };
}

function tokenOf(secrets: unknown): string {
  const token = text(secrets, 'token');
  if (token === undefined) throw invalidConfig('There is no API token.');
  return `Token ${token}`;
}

const basicOf = (user: string | undefined, password: string | undefined): string | undefined =>
  user === undefined ? undefined : `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}`;

function pathOf(field: string): KeyPath {
  const path = parseKeyPath(field);
  if (!path) throw invalidConfig('The path of a field is not valid.');
  return path;
}
