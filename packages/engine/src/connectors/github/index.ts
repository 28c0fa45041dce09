import type { ConnectorCode } from '../connector-code.js';
import { createGithubAuditLogTester } from './test-connection.js';

export const githubAuditLogsInput: ConnectorCode = { testConnection: createGithubAuditLogTester() };
