import { parseKeyPath, type KeyPath, type TesterConfig } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text, texts } from '../_shared/read.js';

export interface PrometheusTarget {
  url: string;
  authorization: string | undefined;
  verifyTls: boolean;
  series: SeriesFields;
}

/** Where a record has what makes up a sample. */
export interface SeriesFields {
  /** The same for all records, or where each has its own. */
  name: { fixed: string } | { path: KeyPath };
  value: KeyPath;
  labels: readonly { label: string; path: KeyPath }[];
  timestamp: KeyPath | undefined;
}

/** @throws ConnectorError `invalid_config` */
export function readPrometheusTarget({ settings, secrets }: TesterConfig): PrometheusTarget {
  const url = text(settings, 'endpoint');
  if (url === undefined || !URL.canParse(url)) throw invalidConfig('There is no address to send to.');
  const isField = text(settings, 'metric_name', 'type') === 'field';
  const time = text(settings, 'timestamp_field');
  const labels = texts(settings, 'label_fields').map((field) => ({ label: labelOf(field), path: pathOf(field) }));
  const twice = labels.find(({ label }, index) => labels.findIndex((each) => each.label === label) !== index);
  if (twice) throw invalidConfig('Two of the label fields have the same name in Prometheus. Remove one.');
  return {
    url,
    authorization: authorizationOf(text(settings, 'auth', 'type'), secrets),
    verifyTls: at(settings, 'tls_skip_verify') !== true,
    series: {
      name: isField
        ? { path: pathOf(text(settings, 'metric_name', 'field', 'field_name')) }
        : { fixed: text(settings, 'metric_name', 'static', 'value') ?? '' },
      value: pathOf(text(settings, 'value_field') ?? 'value'),
      labels,
      timestamp: time === undefined ? undefined : pathOf(time),
    },
  };
}

function authorizationOf(type: string | undefined, secrets: unknown): string | undefined {
  if (type === 'bearer') {
    const token = text(secrets, 'bearer_token');
    return token === undefined ? undefined : `Bearer ${token}`;
  }
  const [user, password] = [text(secrets, 'username'), text(secrets, 'password')];
  if (user === undefined && password === undefined) return undefined;
  return `Basic ${Buffer.from(`${user ?? ''}:${password ?? ''}`).toString('base64')}`;
}

function pathOf(field: string | undefined): KeyPath {
  const path = field === undefined ? undefined : parseKeyPath(field);
  if (!path) throw invalidConfig('The path of a field is not valid.');
  return path;
}

/** https://prometheus.io/docs/concepts/data_model/#metric-names-and-labels */
const labelOf = (field: string): string => field.replaceAll(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_');
