import { createHmac, randomBytes } from 'node:crypto';
import type { ConnectorConfig, PollSingleAuthentication } from '@connector-frame/catalog/types';
import type { Subject } from '../../connection-test/failures.js';
import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { failed } from '../../connection-test/outcome.js';
import { PollError } from '../poll-error.js';

/** Attempts with the same refused password; common policies lock an account after five. */
const MAX_ATTEMPTS = 3;
/** Milliseconds before the last attempt, in case that the vendor is at fault. */
const LAST_PAUSE = 3_600_000;
const MAX_REMEMBERED = 10_000;

/** Refused sign-ins of this process, by a keyed digest of the configuration, so that pipelines share them. */
const refused = new Map<string, { count: number; last: number }>();
const digestKey = randomBytes(32);

/** Whether refused attempts may lock an account. */
export const isPassword = (method: PollSingleAuthentication): boolean =>
  method.kind === 'login' ||
  method.kind === 'digest' ||
  (method.kind === 'basic' && method.password !== undefined && !method.user.startsWith('/secrets/')) ||
  (method.kind === 'client_credentials' && method.grant_type === 'password');

/**
 * Limits how often a refused password is sent: a second time when the pipeline retries, a third time
 * after an hour, and then only when the configuration has changed or a person asks.
 */
export class SignInGuard {
  readonly #key: string;
  readonly #subject: Subject;

  /** @param scope type of the connector */
  constructor(scope: string, config: ConnectorConfig, subject: Subject) {
    this.#key = createHmac('sha256', digestKey)
      .update(JSON.stringify([scope, config], sorted))
      .digest('base64');
    this.#subject = subject;
  }

  /** @throws PollError `invalid_credentials` if the password must not be sent now */
  check(now: number): void {
    const { count, last } = refused.get(this.#key) ?? { count: 0, last: 0 };
    if (count < MAX_ATTEMPTS - 1) return;
    // A clock that was put back must not end the pause early, nor make it longer.
    if (count < MAX_ATTEMPTS && Math.abs(now - last) >= LAST_PAUSE) return;
    const { product, credential } = this.#subject;
    const again = count < MAX_ATTEMPTS ? 'for an hour' : 'until you correct them or retry';
    const message = `${product} did not accept the credentials ${count} times. They are not sent again ${again}, so that the account is not locked.`;
    throw new PollError(failed('invalid_credentials', message, { at: credential }), 'permanent');
  }

  refused(now: number): void {
    const { count = 0 } = refused.get(this.#key) ?? {};
    if (refused.size >= MAX_REMEMBERED) refused.clear();
    refused.set(this.#key, { count: count + 1, last: now });
  }

  /** Forgets refused attempts: one was accepted, or a person asks for another. */
  reset(): void {
    refused.delete(this.#key);
  }
}

/** Replacer that makes equal configurations equal texts. */
function sorted(_key: string, value: JsonValue): JsonValue {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
