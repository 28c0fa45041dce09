import type { KeptSecret, SecretState } from './field.js';

/** What a person does to a secret; `moved`: its destination changed, or changed back. */
export type SecretEvent = 'typed' | 'replace' | 'keep' | 'clear' | 'moved';

export interface SecretFacts {
  /** Whether the destination differs now from the one the secret was saved for. */
  moved: boolean;
  /** Whether its control is blank. */
  blank: boolean;
}

/** What the service keeps behind a state, if anything. */
export const keptOf = (secret: SecretState): KeptSecret | undefined =>
  secret.state === 'empty' ? undefined : secret.state === 'typing' ? secret.replaces : secret.kept;

/** The state of a secret that nobody has touched. */
export function restingSecret(kept: KeptSecret | undefined, moved: boolean): SecretState {
  if (!kept) return { state: 'empty' };
  return { state: moved ? 'reentry' : 'kept', kept };
}

/**
 * One step of a secret. A kept one is never sent where it was not typed for: while `moved`, what would be `kept` is `reentry`. The
 * way back (`keep`, or the old destination again) finds it again, until the form is saved.
 */
export function nextSecret(secret: SecretState, event: SecretEvent, { moved, blank }: SecretFacts): SecretState {
  const kept = keptOf(secret);
  const typing: SecretState = { state: 'typing', ...(kept && { replaces: kept, again: moved }) };
  switch (event) {
    case 'typed':
      if (!blank) return typing;
      // Blank while replacing stays open: the next thing may be a paste.
      return secret.state === 'cleared' || (kept && secret.state === 'typing' && !moved)
        ? secret
        : restingSecret(kept, moved);
    case 'replace':
      return kept && !moved ? typing : restingSecret(kept, moved);
    case 'keep':
      return restingSecret(kept, moved);
    case 'clear':
      return kept ? { state: 'cleared', kept } : secret;
    default:
      if (secret.state === 'cleared') return secret;
      return secret.state === 'typing' && !(moved && blank) ? typing : restingSecret(kept, moved);
  }
}
