import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import { auditEvent } from '../../ends/audit-event.js';
import type { DataRecord } from '../../records/record.js';

/** The record with a number, from 0, at a time in milliseconds since the epoch. */
export type Shape = (number: number, at: number) => DataRecord;

/** What the records of a type look like. */
export function shapeOf({ vendor }: Pick<ConnectorTypeData, 'type_id' | 'name' | 'vendor' | 'category'>): Shape {
  return (number, at) => ({ vendor, ...auditEvent(number, at) });
}
