import type { ConnectorCode } from '../connector-code.js';
import { createDemoInput } from './input.js';

export const demoInput: ConnectorCode = { createInput: createDemoInput };
