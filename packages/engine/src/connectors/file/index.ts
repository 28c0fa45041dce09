import type { ConnectorCode } from '../connector-code.js';
import { createFileConnectorOutput } from './output.js';

export const fileOutput: ConnectorCode = { createOutput: createFileConnectorOutput };
