import { createDevNullOutput } from './output.js';
import type { ConnectorCode } from '@connector-frame/engine/connector-api';

export const devNullOutput: ConnectorCode = { createOutput: () => createDevNullOutput() };
