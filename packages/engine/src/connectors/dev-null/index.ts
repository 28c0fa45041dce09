import { createDevNullOutput } from '../../ends/dev-null-output.js';
import type { ConnectorCode } from '../connector-code.js';

export const devNullOutput: ConnectorCode = { createOutput: () => createDevNullOutput() };
