import type { KeptSecret, SecretState } from './field.js';

/** User actions on a secret, and `moved`: its destination changed, or changed back. */
export type SecretEvent = 'typed' | 'replace' | 'keep' | 'clear' | 'moved';

/** Returns whether the secret is an account that was connected in this form. */
export const isConnected = (secret: SecretState): secret is Extract<SecretState, { state: 'connected' }> =>
  secret.state === 'connected';

export interface SecretFacts {
  /** Whether the destination differs from the one for which the secret was saved. */
  moved: boolean;
  /** Whether its control is blank. */
  blank: boolean;
}

/** Returns the stored secret behind a state, if any. */
export const keptOf = (secret: SecretState): KeptSecret | undefined =>
  secret.state === 'empty'
    ? undefined
    : secret.state === 'typing' || secret.state === 'connected'
      ? secret.replaces
      : secret.kept;

/** Returns the state of a secret that the user has not changed. */
export function uneditedSecret(kept: KeptSecret | undefined, moved: boolean): SecretState {
  if (!kept) return { state: 'empty' };
  return { state: moved ? 'reentry' : 'kept', kept };
}

/**
 * Returns the next state of a secret. A stored secret is never sent to a destination for which it
 * was not entered: while `moved`, the state is `reentry` instead of `kept`. Until the form is
 * saved, `keep` or a return to the old destination restores the stored secret.
 */
export function nextSecret(secret: SecretState, event: SecretEvent, { moved, blank }: SecretFacts): SecretState {
  const kept = keptOf(secret);
  const typing: SecretState = { state: 'typing', ...(kept && { replaces: kept, again: moved }) };
  switch (event) {
    case 'typed':
      if (!blank) return typing;
      // Keep an emptied replacement open: the user may be about to paste.
      return secret.state === 'cleared' || (kept && secret.state === 'typing' && !moved)
        ? secret
        : uneditedSecret(kept, moved);
    case 'replace':
      return kept && !moved ? typing : uneditedSecret(kept, moved);
    case 'keep':
      return uneditedSecret(kept, moved);
    case 'clear':
      return kept ? { state: 'cleared', kept } : secret;
    default:
      // The editor ends a connected account when its destination changes.
      if (secret.state === 'cleared' || secret.state === 'connected') return secret;
      return secret.state === 'typing' && !(moved && blank) ? typing : uneditedSecret(kept, moved);
  }
}
