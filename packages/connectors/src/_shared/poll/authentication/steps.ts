import { createHash, createHmac, createPrivateKey, sign, type KeyObject } from 'node:crypto';
import type { ConnectorConfig, PollSignatureStep } from '@connector-frame/catalog/types';
import { failed } from '../../connection-test/outcome.js';
import { PollError } from '../poll-error.js';
import { formatTime } from '../times.js';
import { fillCredential, readField, type NamedValue } from './credentials.js';

/** What differs between two signatures of the same request. */
export interface Moment {
  /** Milliseconds since the epoch. */
  at: number;
  /** Hexadecimal digits. */
  nonce: string;
}

/** Values of `{{timestamp}}` and `{{nonce}}`. */
export const momentValues =
  ({ at, nonce }: Moment): NamedValue =>
  (name, form = 'rfc3339') => {
    if (name === 'timestamp') return form === 'http' ? new Date(at).toUTCString() : formatTime(at, form);
    if (name === 'nonce') return form === 'short' ? nonce.slice(0, 32) : nonce;
    return undefined;
  };

/**
 * Computes the values of steps in order.
 *
 * @param values receives them
 * @param body bytes of `{{body}}`, which may be no text
 * @throws PollError `invalid_config`
 */
export function computeSteps(
  steps: readonly PollSignatureStep[],
  config: ConnectorConfig,
  named: NamedValue,
  values: Map<string, string>,
  body?: string | Uint8Array,
): void {
  for (const step of steps) {
    const bytes =
      step.of === '{{body}}'
        ? Buffer.from(body ?? '')
        : Buffer.from(fillCredential(step.of, config, named), step.of_encoding ?? 'utf8');
    values.set(step.name, compute(step, bytes, config, named));
  }
}

function compute(step: PollSignatureStep, bytes: Buffer, config: ConnectorConfig, named: NamedValue): string {
  switch (step.kind) {
    case 'text':
      return bytes.toString();
    case 'hash':
      if (step.empty && bytes.length === 0) return '';
      return createHash(step.algorithm).update(bytes.subarray(0, step.first_bytes)).digest(step.encoding);
    case 'hmac': {
      const { key_encoding: encoding = 'text' } = step;
      const key = Buffer.from(fillCredential(step.key, config, named), encoding === 'text' ? 'utf8' : encoding);
      return createHmac(step.algorithm, key).update(bytes).digest(step.encoding);
    }
    case 'rsa':
      return sign(step.algorithm, bytes, privateKey(config, step.key)).toString(step.encoding);
    default:
      return zscalerKey(readField(config, step.key), bytes.toString());
  }
}

/**
 * Obfuscates an API key with the digits of a time in milliseconds.
 * https://help.zscaler.com/zia/getting-started-zia-api
 */
function zscalerKey(key: string, milliseconds: string): string {
  const high = milliseconds.slice(-6);
  const low = String(Number(high) >> 1).padStart(6, '0');
  const pick = (digits: string, shift: number): string =>
    digits.replaceAll(/\d/g, (digit) => key[Number(digit) + shift] ?? '');
  return pick(high, 0) + pick(low, 2);
}

/** @throws PollError `invalid_config` */
function privateKey(config: ConnectorConfig, path: string): KeyObject {
  const text = readField(config, path);
  try {
    return createPrivateKey(text);
  } catch {
    const message = 'This is not an unencrypted private key in PEM format.';
    throw new PollError(failed('invalid_config', message, { at: path }), 'permanent');
  }
}
