import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createFileConnectorOutput } from './output.js';

export const fileOutput: ConnectorCode = { createOutput: createFileConnectorOutput };
