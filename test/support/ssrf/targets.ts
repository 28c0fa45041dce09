/** Every connector type that opens connections, and the fields that hold an address. */
import {
  CONNECTOR_KINDS,
  exampleConfig,
  loadCatalog,
  type ConnectorConfig,
  type ConnectorTypeData,
} from '@connector-frame/catalog';
import { validateConfig } from '@connector-frame/catalog/validate';
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
const broker = (host: string, port: number): Record<string, unknown> => ({
  bootstrap_servers: `${inUrl(host)}:${port}`,
});
const database = (host: string, port: number): Record<string, unknown> => ({ host, port });
/** An address with a scheme that browsers don't know: other characters are percent-encoded. */
const plainUrl =
  (field: string, scheme: string) =>
  (host: string, port: number): Record<string, unknown> | undefined =>
    /^[!-~]+$/.test(host) ? { [field]: `${scheme}://${inUrl(host)}:${port}` } : undefined;
const amqpRequests: OutboundRequest[] = [
  {
    settings: (host) => (/^[!-~]+$/.test(host) ? {} : undefined),
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
      // Parsing the string percent-encodes other characters, and the result is not a host name.
      settings: (host) => (/^[!-~]+$/.test(host) ? {} : undefined),
      secrets: (host, port) => ({ connection_string: `postgresql://user:password@${inUrl(host)}:${port}/logs` }),
    },
  ],
  'output:email-smtp': [{ settings: database }],
  'input:redis': [{ settings: plainUrl('url', 'redis') }],
  'output:redis': [{ settings: plainUrl('endpoint', 'redis') }],
  'input:mqtt': [{ settings: database }],
  'output:mqtt': [{ settings: database }],
  'input:nats': [{ settings: plainUrl('url', 'nats') }],
  'output:nats': [{ settings: plainUrl('url', 'nats') }],
  'input:rabbitmq': amqpRequests,
  'output:rabbitmq': amqpRequests,
  // Over TCP, any server would do.
  'output:syslog': [{ settings: (host, port) => ({ host, port, protocol: 'tls', format: 'raw' }) }],
  'output:papertrail': [{ settings: (host, port) => ({ endpoint: `${inUrl(host)}:${port}` }) }],
  'input:object-storage': bucketRequests,
  'output:object-storage': bucketRequests,
  'input:okta-systemlog': [{ settings: url('org_url', 'https') }],
  'output:http': [{ settings: url('endpoint', 'http') }],
  'enrichment:http-lookup': [{ settings: (host, port) => ({ url: `http://${inUrl(host)}:${port}/{key}` }) }],
  'output:opensearch': [{ settings: url('url', 'http') }],
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

/** Well-formed credentials, where the catalog's example has none. */
const keys = { access_key: 'AKIAIOSFODNN7EXAMPLE', secret_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
const more: Readonly<Record<string, Partial<ConnectorConfig>>> = {
  'input:s3': { secrets: keys },
  'output:s3': { secrets: keys },
  'input:google-workspace-admin-activity': google.config,
};
/** Types that connect to the vendor's fixed address. */
const vendors: readonly OutboundRequest[] = [{ settings: () => ({}) }];
const vendorsWithRole: readonly OutboundRequest[] = [
  ...vendors,
  { label: 'with a role', settings: () => ({ role_arn: 'arn:aws:iam::123456789012:role/Log' }) },
];
const vendorRequests: Readonly<Record<string, readonly OutboundRequest[]>> = {
  'input:s3': vendorsWithRole,
  'output:s3': vendorsWithRole,
};

const other = new Set([
  'email-smtp',
  'kafka',
  'mqtt',
  'nats',
  'papertrail',
  'postgresql',
  'rabbitmq',
  'redis',
  'syslog',
]);
const speaksHttp = (typeId: string): boolean => !other.has(typeId);

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
        http: speaksHttp(typeId),
        lead(host, port) {
          const address = way.settings(host, port);
          if (!address) return undefined;
          const example = exampleConfig(type.config);
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

/** Types that receive or generate records, or use only files and the database. */
const local = new Set([
  'input:demo',
  'input:monad-alerts',
  'input:monad-http',
  'input:monad-otel',
  'input:monad-syslog',
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
  return !local.has(name) && (code.testConnection !== undefined || runs(code));
}

/** Returns whether a type has a runtime. */
export const runs = ({ createInput, createOutput, createEnrichment }: ConnectorCode): boolean =>
  (createInput ?? createOutput ?? createEnrichment) !== undefined;
