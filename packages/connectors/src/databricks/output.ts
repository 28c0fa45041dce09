import type { ConnectorConfig } from '@connector-frame/catalog/types';
import {
  ConnectorError,
  type Batch,
  type ConnectorContext,
  type Output,
  type WriteResult,
} from '@connector-frame/engine/connector-api';
import { unexpected } from '../_shared/output/failures.js';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';
import { DatabricksClient, readDatabricks, type TokenScope } from './client.js';

const FILE_BYTES = 64_000_000;
/** The documentation names no limit of a request; a stream takes records of up to 10 MB. */
const ROWS_BYTES = 1_000_000;

/** How records get into a table. */
export type WriteMode =
  /** Files in a volume, which a pipeline of the user loads, or `COPY INTO`. */
  | { kind: 'files'; volume: string; copy?: { httpPath: string; table: string } }
  /** Rows without files. */
  | { kind: 'zerobus'; workspace: string; region: string; table: string };

/** Parses `write_mode`. The types use different names for the same. */
export function readWriteMode(settings: Record<string, unknown>): WriteMode {
  const mode = at(settings, 'write_mode');
  const name = text(mode, 'write_mode') ?? '';
  const branch = at(mode, name === 'autoloader' && at(mode, 'auto_loader') !== undefined ? 'auto_loader' : name);
  const table = text(branch, 'table_name') ?? text(branch, 'table') ?? '';
  const volume = text(branch, 'volume') ?? '';
  switch (name) {
    case 'copy_into':
      return { kind: 'files', volume, copy: { httpPath: text(branch, 'http_path') ?? '', table } };
    case 'zerobus':
      return {
        kind: 'zerobus',
        table,
        workspace: text(branch, 'workspace_id') ?? '',
        region: text(branch, 'region') ?? '',
      };
    case 'autoloader':
      if (text(branch, 'pipeline', 'mode') !== 'monad_managed') return { kind: 'files', volume };
      throw invalidConfig(
        'Pipelines are not created here. Choose "I run my own", with a pipeline that loads the volume.',
      );
    default:
      throw invalidConfig('Pipelines are not created here. Choose files with your own pipeline, or Zerobus.');
  }
}

/** Creates the output of the three types that write to Databricks. */
export function createDatabricksOutput(config: ConnectorConfig, { egress, clock }: ConnectorContext): Output {
  const { settings } = config;
  const target = readDatabricks(config);
  const client = new DatabricksClient(target, egress, clock);
  const mode = readWriteMode(settings);
  const catalog = text(settings, 'catalog') ?? '';
  const schema = text(settings, 'schema') ?? '';

  async function writeFile(batch: Batch, signal: AbortSignal): Promise<WriteResult> {
    if (mode.kind !== 'files') return {};
    // The same batch overwrites its file, and is loaded once.
    const path = `/Volumes/${[catalog, schema, mode.volume, `connector-frame-${batch.id}.json`].join('/')}`;
    const segments = path.split('/').map(encodeURIComponent).join('/');
    const url = `https://${target.host}/api/2.0/fs/files${segments}?overwrite=true`;
    const body = `${batch.lines.join('\n')}\n`;
    const response = await client.send({ method: 'PUT', url, body, contentType: 'application/octet-stream' }, signal);
    if (response.status !== 204) throw unexpected('Databricks');
    const { copy } = mode;
    if (!copy) return {};
    const table = [catalog, schema, copy.table].map((name) => `\`${name.replaceAll('`', '``')}\``).join('.');
    const statement = [
      `COPY INTO ${table} FROM '${path.replaceAll(/['\\]/g, '\\$&')}' FILEFORMAT = JSON`,
      `FORMAT_OPTIONS ('mergeSchema' = 'true') COPY_OPTIONS ('mergeSchema' = 'true')`,
    ].join(' ');
    await client.statement(copy.httpPath, statement, [], signal);
    return {};
  }

  async function writeRows(batch: Batch, signal: AbortSignal): Promise<WriteResult> {
    if (mode.kind !== 'zerobus') return {};
    const domain = zerobusDomain(target.host);
    const name = `${catalog}.${schema}.${mode.table}`;
    const url = `https://${mode.workspace}.zerobus.${mode.region}.${domain}/zerobus/v1/tables/${encodeURIComponent(name)}/insert`;
    const request = { method: 'POST', url, body: `[${batch.lines.join(',')}]`, contentType: 'application/json' };
    try {
      await client.json({ ...request, scope: zerobusScope(mode.workspace, catalog, schema, mode.table) }, signal);
      return {};
    } catch (error) {
      // A record that does not fit the table's schema.
      if (!(error instanceof ConnectorError) || error.code !== 'rejected') throw error;
      return {
        refused: [
          { indexes: batch.lines.map((_line, index) => index), reason: 'Databricks does not accept this record.' },
        ],
      };
    }
  }

  const number = (key: string, fallback: number): number => {
    const value = at(settings, 'batch_config', key);
    return typeof value === 'number' && value > 0 ? value : fallback;
  };
  if (mode.kind === 'zerobus') {
    return {
      batching: { records: 1_000, bytes: ROWS_BYTES, waitMs: 1_000, waitFrom: 'write' },
      ordering: 'none',
      maxConcurrency: 8,
      write: writeRows,
    };
  }
  return {
    batching: {
      records: number('batch_record_count', 100_000),
      bytes: Math.min(number('batch_data_size', 10_485_760), FILE_BYTES),
      waitMs: number('publish_rate', 45) * 1_000,
    },
    write: writeFile,
  };
}

/** Returns the domain of Zerobus in the workspace's cloud. */
export function zerobusDomain(host: string): string {
  if (host.endsWith('.azuredatabricks.net')) return 'azuredatabricks.net';
  return host.endsWith('.gcp.databricks.com') ? 'gcp.databricks.com' : 'cloud.databricks.com';
}

const detail = (object_type: string, object_full_path: string, ...privileges: string[]): object => ({
  type: 'unity_catalog_privileges',
  privileges,
  object_type,
  object_full_path,
});

/** The rights that a token for Zerobus needs. https://docs.databricks.com/aws/en/ingestion/zerobus-ingest */
function zerobusScope(workspace: string, catalog: string, schema: string, table: string): TokenScope {
  return {
    resource: `api://databricks/workspaces/${workspace}/zerobusDirectWriteApi`,
    authorization_details: JSON.stringify([
      detail('CATALOG', catalog, 'USE CATALOG'),
      detail('SCHEMA', `${catalog}.${schema}`, 'USE SCHEMA'),
      detail('TABLE', `${catalog}.${schema}.${table}`, 'SELECT', 'MODIFY'),
    ]),
  };
}
