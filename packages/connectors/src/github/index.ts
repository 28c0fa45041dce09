import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createGithubAuditLogTester } from './test-connection.js';

export const githubAuditLogsInput: ConnectorCode = { testConnection: createGithubAuditLogTester() };
