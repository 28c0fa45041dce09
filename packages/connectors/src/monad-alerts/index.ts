import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createMonadAlertsInput } from './input.js';

export const monadAlertsInput: ConnectorCode = { createInput: createMonadAlertsInput };
