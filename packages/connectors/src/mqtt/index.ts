import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createMqttInput } from './input.js';
import { createMqttOutput } from './output.js';
import { testMqttInput, testMqttOutput } from './test-connection.js';

export const mqttInput: ConnectorCode = { testConnection: testMqttInput, createInput: createMqttInput };
export const mqttOutput: ConnectorCode = { testConnection: testMqttOutput, createOutput: createMqttOutput };
