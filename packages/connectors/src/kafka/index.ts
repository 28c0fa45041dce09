import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { createKafkaInput } from './input.js';
import { createKafkaOutput } from './output.js';
import { testKafkaInput, testKafkaOutput } from './test-connection.js';

export const kafkaInput: ConnectorCode = { testConnection: testKafkaInput, createInput: createKafkaInput };
export const kafkaOutput: ConnectorCode = { testConnection: testKafkaOutput, createOutput: createKafkaOutput };
