import type { ConnectorConfig } from '@connector-frame/catalog/types';
import type { ConnectorCode, TesterConfig } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import { createS3Output } from '../s3/output.js';
import { createS3OutputTester } from '../s3/test-connection.js';

const lake = { product: 'Security Lake' };
const fields = { role: '/settings/role_arn' };
const REGION = /^[a-z]{2,4}(?:-[a-z]+)+-\d$/;

/**
 * Returns the configuration as that of a bucket with the folders of a custom source.
 * https://docs.aws.amazon.com/security-lake/latest/userguide/adding-custom-sources.html
 */
export function toS3({ settings }: TesterConfig): ConnectorConfig {
  const bucket = text(settings, 'bucketName') ?? '';
  const sourceRegion = text(settings, 'source_account_details', 'source_region');
  const account = text(settings, 'source_account_details', 'source_account_id');
  // The name of the bucket contains its region.
  const [, named = ''] = /^aws-security-data-lake-(.+)-[^-]+$/.exec(bucket) ?? [];
  const region = REGION.test(named) ? named : (sourceRegion ?? 'us-east-1');
  return {
    settings: {
      bucket,
      region,
      role_arn: text(settings, 'role_arn'),
      prefix: [folderOf(settings, bucket), `region=${sourceRegion ?? region}`, account && `accountId=${account}`]
        .filter(Boolean)
        .join('/'),
      partition_format: 'custom',
      partition_format_template: 'eventDay={year}{month}{day}',
      format_config: { Format: 'parquet', parquet_format: at(settings, 'parquet_format') ?? {} },
      batch_config: at(settings, 'batch_config'),
    },
    secrets: {},
  };
}

/** Returns the folder of the source: the setting, or that of the location. */
function folderOf(settings: Record<string, unknown>, bucket: string): string {
  const location = text(settings, 'bucket_url') ?? '';
  const path = URL.canParse(location) ? new URL(location).pathname : '';
  const folder = (text(settings, 'key') ?? path).replace(/^\/+|\/+$/g, '');
  // An https address may have the bucket in its path.
  return folder.startsWith(`${bucket}/`) ? folder.slice(bucket.length + 1) : folder;
}

export const securityLakeOutput: ConnectorCode = {
  testConnection: (config, context) => createS3OutputTester(lake, undefined, fields)(toS3(config), context),
  createOutput: (config, context) => createS3Output(lake, undefined, fields)(toS3(config), context),
};
