import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createDemoInput } from './input.js';

export const demoInput: ConnectorCode = { createInput: createDemoInput };
