import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createOpensearchOutput } from './output.js';

export const opensearchOutput: ConnectorCode = { createOutput: createOpensearchOutput };
