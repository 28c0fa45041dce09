import type { PollCondition } from '@connector-frame/catalog/types';
import { isEmpty } from '@connector-frame/catalog/validate';
import { valueOf, type Values } from './template.js';

/** Whether all conditions hold. */
export function holds(when: PollCondition | readonly PollCondition[] | undefined, values: Values): boolean {
  return [when ?? []].flat().every((condition) => isMet(condition, values));
}

function isMet({ field, in: allowed, empty }: PollCondition, values: Values): boolean {
  const value = valueOf(field, values);
  if (value === false || isEmpty(value)) return empty === true;
  if (allowed === undefined) return empty !== true;
  const texts = allowed.map(String);
  return [value]
    .flat()
    .some((each) => (typeof each === 'string' || typeof each === 'number') && texts.includes(String(each)));
}
