import { isEmpty } from '@connector-frame/catalog/validate';
import type { KeptSecret, SecretState } from './field.js';
import { isConnected, keptOf, nextSecret, uneditedSecret, type SecretEvent } from './secret-state.js';
import type { Connector } from './wire.js';

type Saved = Connector['config']['secrets'];

/**
 * The states of all secrets of a form, by JSON Pointer (`/secrets/token`). The draft contains their
 * values.
 */
export interface Secrets {
  get: (path: string) => SecretState;
  /** Returns whether a save sends the value of this secret. */
  typed: (key: string) => boolean;
  /** Returns the keys of the stored secrets that a save leaves unchanged. */
  kept(): ReadonlySet<string>;
  /** Returns the accounts that were connected in this form: key and consent. */
  connected(): readonly (readonly [key: string, consent: string])[];
  connect(path: string, connected: { id: string; account?: string }): void;
  /** Returns the keys of the secrets that a save removes. */
  cleared(): readonly string[];
  /** Applies an event. Returns whether the state changed. */
  step(path: string, event: SecretEvent): boolean;
  /**
   * Updates the states after the destination may have changed. Calls `moved` only if there is a
   * stored secret. Returns the paths of the changed secrets.
   *
   * @param moved returns whether the destination differs from the saved one
   */
  move(moved: () => boolean): string[];
  /**
   * Requires these secrets to be entered again, whatever their destination. Returns the paths of
   * the changed secrets.
   */
  requireReentry(paths: readonly string[]): string[];
  /** Applies newer metadata of the stored secrets. */
  rebase(saved: Saved): void;
  /** Returns whether any secret was entered or cleared. */
  touched(): boolean;
}

const PREFIX = '/secrets/';

const isAgain = (secret: SecretState): boolean => secret.state === 'typing' && secret.again === true;

export function createSecrets(keys: readonly string[], saved: Saved, valueOf: (path: string) => unknown): Secrets {
  const states = new Map<string, SecretState>();
  const reentryRequired = new Set<string>();
  let moved = false;

  const keptIn = (from: Saved, path: string): KeptSecret | undefined => {
    const key = path.slice(PREFIX.length);
    const found = Object.hasOwn(from, key) ? from[key] : undefined;
    return (
      found && {
        id: found.id,
        updatedAt: found.updated_at,
        ...(found.name && { name: found.name }),
        ...(found.account && {
          account: { name: found.account.name ?? '', needsReauth: found.account.status === 'needs_reauth' },
        }),
      }
    );
  };
  const paths = keys.map((key) => PREFIX + key);
  for (const path of paths) states.set(path, uneditedSecret(keptIn(saved, path), false));

  const get = (path: string): SecretState => states.get(path) ?? { state: 'empty' };
  const isMoved = (path: string): boolean => moved || reentryRequired.has(path);
  const step = (path: string, event: SecretEvent): boolean => {
    const before = get(path);
    const after = nextSecret(before, event, { moved: isMoved(path), blank: isEmpty(valueOf(path)) });
    states.set(path, after);
    return before.state !== after.state || isAgain(before) !== isAgain(after);
  };
  const stepAll = (): string[] => paths.filter((path) => step(path, 'moved'));

  const keysIn = (state: SecretState['state']): string[] => keys.filter((key) => get(PREFIX + key).state === state);

  return {
    get,
    typed: (key) => get(PREFIX + key).state === 'typing',
    kept: () => new Set([...keysIn('kept'), ...keysIn('connected')]),
    connected: () =>
      keys.flatMap((key) => {
        const secret = get(PREFIX + key);
        return isConnected(secret) ? [[key, secret.consent] as const] : [];
      }),
    connect(path, { id, account = '' }) {
      const replaces = keptOf(get(path));
      states.set(path, { state: 'connected', consent: id, account, ...(replaces && { replaces }) });
    },
    cleared: () => keysIn('cleared'),
    step,
    move(differs) {
      if (![...states.values()].some(keptOf)) return [];
      moved = differs();
      return stepAll();
    },
    requireReentry(again) {
      for (const path of again) reentryRequired.add(path);
      return stepAll();
    },
    rebase(fresh) {
      reentryRequired.clear();
      for (const path of paths) {
        const before = get(path);
        const kept = keptIn(fresh, path);
        if (before.state === 'typing')
          states.set(path, { state: 'typing', ...(kept && { replaces: kept, again: moved }) });
        else if (isConnected(before)) states.set(path, { ...before, ...(kept && { replaces: kept }) });
        else if (before.state === 'cleared' && kept) states.set(path, { state: 'cleared', kept });
        else states.set(path, uneditedSecret(kept, moved));
      }
    },
    touched: () => keysIn('typing').length + keysIn('cleared').length + keysIn('connected').length > 0,
  };
}
