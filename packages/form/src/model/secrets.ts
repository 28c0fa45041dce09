import { isEmpty } from '@connector-frame/catalog/validate';
import type { KeptSecret, SecretState } from './field.js';
import { keptOf, nextSecret, restingSecret, type SecretEvent } from './secret-state.js';
import type { Connector } from './wire.js';

type Saved = Connector['config']['secrets'];

/** The states of all secrets of one form, by pointer (`/secrets/token`). Their values stand in the draft. */
export interface Secrets {
  get: (path: string) => SecretState;
  /** Whether what the control of this key holds is what a save sends. */
  typed: (key: string) => boolean;
  /** Keys of those that stay without being sent. */
  kept(): ReadonlySet<string>;
  /** Keys of those that a save removes. */
  cleared(): readonly string[];
  /** Returns whether the state is another one now. */
  step(path: string, event: SecretEvent): boolean;
  /** Whether the destination differs from the one saved; asked only while something is kept. Returns the secrets this changed. */
  move(moved: () => boolean): string[];
  /** The service asks for these again, wherever they go. Returns those this changed. */
  ask(paths: readonly string[]): string[];
  /** A newer version of what is kept. */
  rebase(saved: Saved): void;
  /** Whether any was typed or cleared. */
  touched(): boolean;
}

const PREFIX = '/secrets/';

const isAgain = (secret: SecretState): boolean => secret.state === 'typing' && secret.again === true;

export function createSecrets(keys: readonly string[], saved: Saved, valueOf: (path: string) => unknown): Secrets {
  const states = new Map<string, SecretState>();
  const asked = new Set<string>();
  let moved = false;

  const keptIn = (from: Saved, path: string): KeptSecret | undefined => {
    const key = path.slice(PREFIX.length);
    const found = Object.hasOwn(from, key) ? from[key] : undefined;
    return found && { id: found.id, updatedAt: found.updated_at, ...(found.name && { name: found.name }) };
  };
  const paths = keys.map((key) => PREFIX + key);
  for (const path of paths) states.set(path, restingSecret(keptIn(saved, path), false));

  const get = (path: string): SecretState => states.get(path) ?? { state: 'empty' };
  const isMoved = (path: string): boolean => moved || asked.has(path);
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
    kept: () => new Set(keysIn('kept')),
    cleared: () => keysIn('cleared'),
    step,
    move(differs) {
      if (![...states.values()].some(keptOf)) return [];
      moved = differs();
      return stepAll();
    },
    ask(again) {
      for (const path of again) asked.add(path);
      return stepAll();
    },
    rebase(fresh) {
      asked.clear();
      for (const path of paths) {
        const before = get(path);
        const kept = keptIn(fresh, path);
        if (before.state === 'typing')
          states.set(path, { state: 'typing', ...(kept && { replaces: kept, again: moved }) });
        else if (before.state === 'cleared' && kept) states.set(path, { state: 'cleared', kept });
        else states.set(path, restingSecret(kept, moved));
      }
    },
    touched: () => keysIn('typing').length + keysIn('cleared').length > 0,
  };
}
