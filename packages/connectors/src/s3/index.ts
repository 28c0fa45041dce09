import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createS3Input } from './input.js';
import { createS3Output } from './output.js';
import { createS3InputTester } from './test-input.js';
import { createS3OutputTester } from './test-output.js';

const objectStorage = { product: 'the storage', address: '/settings/endpoint', credential: '/secrets/secret_key' };

export const s3Input: ConnectorCode = { testConnection: createS3InputTester(), createInput: createS3Input() };
export const s3Output: ConnectorCode = { testConnection: createS3OutputTester(), createOutput: createS3Output() };
/** Any S3-compatible storage with its own endpoint. */
export const objectStorageInput: ConnectorCode = {
  testConnection: createS3InputTester(objectStorage),
  createInput: createS3Input(objectStorage),
};
export const objectStorageOutput: ConnectorCode = {
  testConnection: createS3OutputTester(objectStorage),
  createOutput: createS3Output(objectStorage),
};
