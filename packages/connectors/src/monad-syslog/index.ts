import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createSyslogInput } from './input.js';

/** Receives syslog messages over UDP, TCP and TLS, on a port of its own. */
export const monadSyslogInput: ConnectorCode = { createInput: createSyslogInput, listens: true };
