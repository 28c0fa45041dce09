import type { ConnectorCode } from '../connector-code.js';
import { createOpensearchOutput } from './output.js';

export const opensearchOutput: ConnectorCode = { createOutput: createOpensearchOutput };
