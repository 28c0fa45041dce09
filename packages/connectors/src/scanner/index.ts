import type { ConnectorConfig } from '@connector-frame/catalog/types';
import type { ConnectorCode, TesterConfig } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import { createS3Output } from '../s3/output.js';
import { createS3OutputTester } from '../s3/test-connection.js';

const bucket = { product: 'Amazon S3', credential: '/secrets/secret_key' };

/**
 * Returns the configuration as that of a bucket: Scanner indexes the objects that it finds there.
 * https://docs.scanner.dev/scanner/using-scanner-complete-feature-reference/sending-logs-to-scanner
 */
function toS3({ settings, secrets }: TesterConfig): ConnectorConfig {
  const role = text(settings, 'auth', 'iam_role', 'role_arn');
  const isRole = at(settings, 'auth', 'type') === 'iam_role';
  return {
    settings: { ...settings, format_config: formatOf(at(settings, 'format')), ...(isRole && { role_arn: role }) },
    secrets: isRole ? {} : secrets,
  };
}

const formatOf = (format: unknown): Record<string, unknown> => ({
  Format: text(format, 'type') ?? 'json',
  json_format: at(format, 'json') ?? {},
  parquet_format: at(format, 'parquet') ?? {},
  delimited_format: at(format, 'delimited') ?? {},
});

export const scannerOutput: ConnectorCode = {
  testConnection: (config, context) => createS3OutputTester(bucket)(toS3(config), context),
  createOutput: (config, context) => createS3Output(bucket)(toS3(config), context),
};
