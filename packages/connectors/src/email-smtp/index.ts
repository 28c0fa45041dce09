import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createEmailOutput } from './output.js';
import { testEmail } from './test-connection.js';

export const emailSmtpOutput: ConnectorCode = { testConnection: testEmail, createOutput: createEmailOutput };
