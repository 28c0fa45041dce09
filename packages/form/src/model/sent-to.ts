import { getAt } from '@connector-frame/catalog/validate';
import type { Messages } from '../messages/index.js';
import type { Draft } from './draft.js';
import type { Field } from './field.js';
import { walkFields } from './walk-fields.js';
import type { ConnectorType } from './wire.js';

export interface SentToContext {
  type: Pick<ConnectorType, 'vendor' | 'fixed_destination'>;
  fields: readonly Field[];
  /** Name of the session's organization. */
  organization: string;
  messages: Messages;
}

/**
 * Replaces characters in an untrusted name that could reverse the direction of the sentence around
 * it, or break it up.
 */
const plainName = (name: string): string => name.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();

const hostOf = (address: string): string => {
  try {
    return new URL(address).host || address;
  } catch {
    return address;
  }
};

/**
 * Returns a sentence that names where the value of a secret would be sent if the form were saved
 * now, and the organization for which it would be stored: "Sent to hooks.example.com, kept for
 * Acme". Includes every field that determines the destination. A secret that only this service uses is
 * "Never sent, kept for Acme".
 */
export function sentTo(
  secret: Field,
  draft: Draft,
  { type, fields, organization, messages: m }: SentToContext,
): string {
  const owner = plainName(organization);
  if (secret.local) return m.neverSent(owner);
  if (secret.destination) return m.sentToItself(owner);
  const places = type.fixed_destination ? [type.fixed_destination] : [];
  const details: string[] = [];
  let blank: string | undefined;
  for (const { field, path } of walkFields(fields, draft, false)) {
    if (!field.destination || field.kind === 'secret') continue;
    const value = getAt(draft, path);
    const text = typeof value === 'string' || typeof value === 'number' ? `${value}`.trim() : '';
    if (field.key === 'port' && text && places.length > 0) places.push(`${places.pop()}:${text}`);
    else if (field.kind === 'boolean') details.push(...(value === true ? [field.label] : []));
    else if (field.kind === 'enum') details.push(...field.options.filter((one) => one.value === text).map(labelOf));
    else if (field.kind === 'variants')
      details.push(...field.variants.filter((one) => one.value === text).map(labelOf));
    else if (field.kind === 'text' && text) (field.format || text.includes('.') ? places : details).push(hostOf(text));
    else if (text) details.push(text);
    else if (field.kind === 'text' && field.required) blank ??= field.label;
  }
  if (places.length === 0 && blank !== undefined) return m.sentToField(blank, owner);
  const named = places.length > 0 ? places.join(', ') : type.vendor;
  return m.sentTo(plainName(details.length > 0 ? `${named} (${details.join(', ')})` : named), owner);
}

const labelOf = ({ label }: { label: string }): string => label;
