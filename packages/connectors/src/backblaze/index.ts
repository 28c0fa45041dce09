import type { ConnectorCode, TesterConfig } from '@connector-frame/engine/connector-api';
import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { text } from '../_shared/read.js';
import { createS3Output } from '../s3/output.js';
import { createS3OutputTester } from '../s3/test-connection.js';

const backblaze = {
  product: 'Backblaze B2',
  address: '/settings/region',
  credential: '/secrets/application_key',
};

/**
 * Returns the configuration as that of a storage with the S3 API.
 * https://www.backblaze.com/docs/cloud-storage-s3-compatible-api
 */
function toS3(config: TesterConfig): ConnectorConfig {
  const region = text(config.settings, 'region') ?? '';
  return {
    settings: { ...config.settings, endpoint: `https://s3.${region}.backblazeb2.com`, use_path_style: true },
    secrets: {
      access_key: text(config.secrets, 'application_key_id'),
      secret_key: text(config.secrets, 'application_key'),
    },
  };
}

export const backblazeOutput: ConnectorCode = {
  testConnection: (config, context) => createS3OutputTester(backblaze)(toS3(config), context),
  createOutput: (config, context) => createS3Output(backblaze)(toS3(config), context),
};
