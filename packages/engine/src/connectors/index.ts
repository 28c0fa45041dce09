import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import type { ConnectorCode } from './connector-code.js';
import { registry } from './registry.js';

export type * from './connection-test/tester.js';
export type * from './connector-code.js';

/** What there is in code for a type: its connection test, and what runs it. */
export type Connectors = (type: Pick<ConnectorTypeData, 'kind' | 'type_id'>) => ConnectorCode;

export const connectors: Connectors = ({ kind, type_id: typeId }) => registry.get(`${kind}:${typeId}`) ?? {};
