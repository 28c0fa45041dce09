/** Every connector type that opens connections, and the fields that hold an address. */
import {
  CONNECTOR_KINDS,
  exampleConfig,
  loadCatalog,
  type ConnectorConfig,
  type ConnectorTypeData,
} from '@connector-frame/catalog';
import { validateConfig } from '@connector-frame/catalog/validate';
import { withPrivateKeys } from '../declared-fields.js';
import { readDocumented, type DocumentedInput } from '../documented-exchanges.js';
import { dailyPart, long } from '../long.js';
import { google } from '../vendors/google.js';
import { connectors } from '../../../packages/connectors/src/index.js';
import type { ConnectorCode } from '../../../packages/engine/src/connector-api/index.js';

export interface Target {
  /**
   * `output:http`; if the address can be configured in several ways, with the one used:
   * `output:elasticsearch cloud_id`.
   */
  name: string;
  type: ConnectorTypeData;
  code: ConnectorCode;
  /**
   * Whether the user configures the address. Otherwise it is the vendor's fixed address, and only
   * DNS can redirect it.
   */
  typed: boolean;
  /** Speaks HTTP, so it can be redirected. */
  http: boolean;
  /**
   * Returns a configuration with this host, or `undefined` if the catalog's validator rejects it,
   * in which case the service would not connect.
   * @param host a name, or an IP literal; IPv6 without brackets
   */
  lead(host: string, port: number): ConnectorConfig | undefined;
}

/** Puts an address into the settings; `undefined` if the field can't hold it. */
interface OutboundRequest {
  label?: string;
  settings(host: string, port: number): Record<string, unknown> | undefined;
  secrets?(host: string, port: number): Record<string, string>;
}

const inUrl = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
const url =
  (field: string, scheme: string, more: Record<string, unknown> = {}) =>
  (host: string, port: number): Record<string, unknown> => ({ [field]: `${scheme}://${inUrl(host)}:${port}`, ...more });
/** For addresses whose scheme browsers don't know: they percent-encode other characters. */
const plain =
  (settings: OutboundRequest['settings']): OutboundRequest['settings'] =>
  (host, port) =>
    /^[!-~]+$/.test(host) ? settings(host, port) : undefined;
const broker = (host: string, port: number): Record<string, unknown> => ({
  bootstrap_servers: `${inUrl(host)}:${port}`,
});
const database = (host: string, port: number): Record<string, unknown> => ({ host, port });
const amqpRequests: OutboundRequest[] = [
  {
    settings: plain(() => ({})),
    secrets: (host, port) => ({ connection_string: `amqp://user:password@${inUrl(host)}:${port}/%2f` }),
  },
];
const bucketRequests: OutboundRequest[] = [
  { settings: url('endpoint', 'http', { use_path_style: true }) },
  { label: 'bucket in the name', settings: url('endpoint', 'http', { use_path_style: false }) },
];

const requests: Readonly<Record<string, readonly OutboundRequest[]>> = {
  'input:kafka': [{ settings: broker }],
  'output:kafka': [{ settings: broker }],
  'input:postgresql': [{ settings: database }],
  'output:postgresql': [
    { settings: database },
    {
      label: 'connection string',
      // Parsing the string percent-encodes other characters.
      settings: plain(() => ({})),
      secrets: (host, port) => ({ connection_string: `postgresql://user:password@${inUrl(host)}:${port}/logs` }),
    },
  ],
  'input:amazon-redshift': [{ settings: database }],
  'output:amazon-redshift': [{ settings: database }],
  'input:mssql': [{ settings: database }],
  'output:mssql': [{ settings: database }],
  'input:mysql': [{ settings: database }],
  'output:mysql': [{ settings: database }],
  'output:email-smtp': [{ settings: database }],
  'input:redis': [{ settings: plain(url('url', 'redis')) }],
  'output:redis': [{ settings: plain(url('endpoint', 'redis')) }],
  'input:mqtt': [{ settings: database }],
  'output:mqtt': [{ settings: database }],
  'input:nats': [{ settings: plain(url('url', 'nats')) }],
  'output:nats': [{ settings: plain(url('url', 'nats')) }],
  'input:rabbitmq': amqpRequests,
  'output:rabbitmq': amqpRequests,
  // Over TCP, any server would do.
  'output:syslog': [{ settings: (host, port) => ({ host, port, protocol: 'tls', format: 'raw' }) }],
  'output:ibm-qradar': [{ settings: (host, port) => ({ endpoint: host, port, protocol: 'tls' }) }],
  'input:sftp': [{ settings: database }],
  'output:sftp': [{ settings: database }],
  'input:imap-mailbox': [{ settings: (host, port) => ({ server: `${inUrl(host)}:${port}` }) }],
  'input:http-poll': [{ settings: url('endpoint', 'http') }],
  'output:hdfs': [{ settings: url('endpoint', 'http') }],
  'output:websocket': [{ settings: plain(url('uri', 'ws')) }],
  'input:proofpoint-on-demand-events': [{ settings: plain(url('api_host', 'wss')) }],
  'input:retarus-email-events': [
    { settings: plain((host, port) => ({ ws_url: `wss://${inUrl(host)}:${port}/siem?channel=a` })) },
  ],
  'output:prometheus': [{ settings: (host, port) => ({ endpoint: `http://${inUrl(host)}:${port}/api/v1/write` }) }],
  'output:influxdb': [{ settings: url('endpoint', 'http') }],
  'output:otel': [
    { settings: url('endpoint', 'http', { protocol: 'http' }) },
    { label: 'grpc', settings: url('endpoint', 'http', { protocol: 'grpc' }) },
  ],
  'output:vector': [{ settings: plain((host, port) => ({ address: `${inUrl(host)}:${port}` })) }],
  'output:sematext': [{ settings: url('endpoint', 'http') }],
  'output:typesense': [{ settings: (host, port) => ({ host, port: String(port), protocol: 'http' }) }],
  'output:exabeam': [{ settings: url('endpoint', 'https') }],
  'output:panther': [{ settings: (host, port) => ({ http_ingest_url: `https://${inUrl(host)}:${port}/http/1` }) }],
  'output:hydrolix': [{ settings: (host, port) => ({ host: `${inUrl(host)}:${port}` }) }],
  'output:papertrail': [{ settings: (host, port) => ({ endpoint: `${inUrl(host)}:${port}` }) }],
  'input:object-storage': bucketRequests,
  'output:object-storage': bucketRequests,
  'input:okta-systemlog': [{ settings: url('org_url', 'https') }],
  'output:cribl-http': [{ settings: (host, port) => ({ ingress_address: `https://${inUrl(host)}`, port }) }],
  'output:apache-doris': [{ settings: (host, port) => ({ endpoints: [`http://${inUrl(host)}:${port}`] }) }],
  'output:databend': [{ settings: url('endpoint', 'http') }],
  'output:clickhouse': [
    { settings: plain((host, port) => ({ protocol: 'http', host: inUrl(host), port: String(port) })) },
  ],
  'output:timeplus': [{ settings: url('endpoint', 'http') }],
  'output:amazon-dynamodb': [{ settings: url('dynamodb_endpoint', 'http') }],
  'output:greptimedb': [{ settings: url('endpoint', 'http') }],
  'output:http': [{ settings: url('endpoint', 'http') }],
  'enrichment:http-lookup': [{ settings: (host, port) => ({ url: `http://${inUrl(host)}:${port}/{key}` }) }],
  'output:opensearch': [{ settings: url('url', 'http') }],
  'output:wazuh': [{ settings: url('url', 'https') }],
  'output:splunk': [{ settings: (host, port) => ({ url: `http://${inUrl(host)}`, port: String(port) }) }],
  'output:elasticsearch': [
    {
      settings: (host, port) => ({
        connection_config: { type: 'url', url: { endpoint: `http://${inUrl(host)}:${port}` } },
      }),
    },
    {
      label: 'cloud_id',
      // The id contains a label and a domain, so it can also express an address: `127` and `0.0.1`.
      settings: (host, port) => {
        const [, label, domain] = /^([\w-]+)\.([\w.-]+)$/.exec(host) ?? [];
        if (label === undefined) return undefined;
        const id = `${domain}:${port}$${label}$kibana`;
        const cloudId = `acme:${Buffer.from(id).toString('base64')}`;
        return { connection_config: { type: 'cloud_id', cloud_id: { id: cloudId } } };
      },
    },
  ],
};

/** Configurations with well-formed credentials, by type. */
const documented = new Map(
  (['input', 'output'] as const).flatMap((kind) =>
    readDocumented<Pick<DocumentedInput, 'config'>>(kind).map(([typeId, { config }]) => [`${kind}:${typeId}`, config]),
  ),
);
/** The same, where the catalog's example has none. */
const ROLE = 'arn:aws:iam::123456789012:role/Log';
const keys = { access_key: 'AKIAIOSFODNN7EXAMPLE', secret_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
const more: Readonly<Record<string, Partial<ConnectorConfig>>> = {
  'input:s3': { secrets: keys },
  'output:aws-security-lake': { settings: { role_arn: ROLE } },
  'output:aws-sqs': { settings: { role_arn: ROLE } },
  'input:aws-redshift-audit-logs': { settings: { role_arn: ROLE } },
  'input:aws-sqs': { settings: { role_arn: ROLE } },
  'input:aws-sqs-s3': { settings: { role_arn: ROLE } },
  'input:aws-sqs-s3-cloudtrail': { settings: { role_arn: ROLE } },
  'input:cloudtrail': { settings: { role_arn: ROLE } },
  'input:aws-security-hub-findings': { secrets: keys },
  'output:s3': { secrets: keys },
  'output:scanner': { settings: { auth: { type: 'static_credentials' } }, secrets: keys },
  'input:google-workspace-admin-activity': google.config,
  'input:snowflake': { settings: { table: 'LOGIN_HISTORY' }, secrets: withPrivateKeys({ private_key: '-----BEGIN' }) },
  'output:snowflake': { secrets: withPrivateKeys({ private_key: '-----BEGIN' }) },
};
/** Types that connect to the vendor's fixed address. */
const vendors: readonly OutboundRequest[] = [{ settings: () => ({}) }];
const vendorsWithRole: readonly OutboundRequest[] = [
  ...vendors,
  { label: 'with a role', settings: () => ({ role_arn: ROLE }) },
];
const vendorRequests: Readonly<Record<string, readonly OutboundRequest[]>> = {
  'input:s3': vendorsWithRole,
  'output:s3': vendorsWithRole,
};

const other = new Set([
  'amazon-redshift',
  'email-smtp',
  'ibm-qradar',
  'imap-mailbox',
  'kafka',
  'mqtt',
  'mssql',
  'mysql',
  'nats',
  'papertrail',
  'postgresql',
  'proofpoint-on-demand-events',
  'rabbitmq',
  'redis',
  'retarus-email-events',
  'sftp',
  'syslog',
  'vector',
  'websocket',
]);
/** Whether a type connects by HTTP. */
export const speaksHttp = (typeId: string): boolean => !other.has(typeId);

/**
 * Returns the types to attack: all in the long run. The short run takes a part of those that are
 * polled at a fixed address, which share all code.
 *
 * @param oneIn the part is one in this number
 */
export function sampledTargets(oneIn: number): Target[] {
  const isPolled = ({ type, typed }: Target): boolean => type.poll !== undefined && !typed;
  const all = targets();
  const part = new Set(dailyPart(all.filter(isPolled), oneIn));
  return all.filter((target) => !isPolled(target) || part.has(target));
}

/**
 * Returns the types that are attacked with real sockets. Kafka's client waits between attempts, so the
 * short run attacks its input by rebinding alone.
 */
export const attackedTargets = (): Target[] => sampledTargets(12).filter(({ name }) => long || name !== 'input:kafka');

/** Returns the types with code and the types with a poll definition. */
export function targets(): Target[] {
  const catalog = loadCatalog();
  return CONNECTOR_KINDS.flatMap((kind) =>
    catalog.list(kind).flatMap(({ type_id: typeId }): Target[] => {
      const type = catalog.get(kind, typeId);
      if (!type) return [];
      const code = connectors(type);
      const name = `${kind}:${typeId}`;
      if (!dials(name, code)) return [];
      const typed = requests[name];
      return (typed ?? vendorRequests[name] ?? vendors).map((way) => ({
        name: way.label === undefined ? name : `${name} ${way.label}`,
        type,
        code,
        typed: typed !== undefined,
        http: speaksHttp(typeId) && way.label !== 'grpc',
        lead(host, port) {
          const address = way.settings(host, port);
          if (!address) return undefined;
          const example = documented.get(name) ?? exampleConfig(type.config);
          const config = {
            settings: { ...example.settings, ...more[name]?.settings, ...address },
            secrets: { ...example.secrets, ...more[name]?.secrets, ...way.secrets?.(host, port) },
          };
          return validateConfig(type.config, config).length === 0 ? config : undefined;
        },
      }));
    }),
  );
}

/** Types that generate records, or use only files and the database. */
const local = new Set([
  'input:demo',
  'input:demo-custom',
  'input:monad-alerts',
  'input:monad-api-activity',
  'output:dev-null',
  'output:file',
  'output:kv-lookup',
  'enrichment:cidr',
  'enrichment:csv-table',
  'enrichment:geoip',
  'enrichment:geolocus',
  'enrichment:kv-lookup',
]);

function dials(name: string, code: ConnectorCode): boolean {
  const receives = code.receiver !== undefined || code.createReceiver !== undefined || code.listens === true;
  return !local.has(name) && !receives && (code.testConnection !== undefined || runs(code));
}

/** Returns whether a type has a runtime. */
export const runs = ({ createInput, createOutput, createEnrichment }: ConnectorCode): boolean =>
  (createInput ?? createOutput ?? createEnrichment) !== undefined;
