import type { SecretState } from '../src/model/field.js';
import type { Form } from '../src/model/form.js';
import type { FormState } from '../src/model/state.js';

/** Initial state of a gallery scene. */
export interface Scene {
  state: FormState;
  values?: Record<string, unknown>;
  /** Number of rows of each list or map, by path. */
  rows?: Record<string, number>;
  secrets?: Record<string, SecretState>;
  errors?: Record<string, string>;
  /** Paths of the hidden fields. */
  hidden?: string[];
  /** Problems with which `save()` fails. */
  problems?: { path: string; label: string; message: string }[];
}

/**
 * An in-memory form that stores values and behaves as its scene says, without validation or a
 * service.
 */
export class FakeForm implements Form {
  state: FormState;
  summary: Form['summary'] = [];
  /**
   * Resolves when a save or a connection test finishes, by default after 400 ms; tests can replace
   * it.
   */
  actionDone = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 400));
  /** Recorded method calls, for tests. */
  readonly calls: string[] = [];
  readonly values: Map<string, unknown>;
  readonly #rows: Map<string, number>;
  readonly #secrets: Map<string, SecretState>;
  readonly #errors: Map<string, string>;
  readonly #hidden: Set<string>;
  readonly #problems: Form['summary'];
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(scene: Scene) {
    this.state = scene.state;
    this.values = new Map(Object.entries(scene.values ?? {}));
    this.#rows = new Map(Object.entries(scene.rows ?? {}));
    this.#secrets = new Map(Object.entries(scene.secrets ?? {}));
    this.#errors = new Map(Object.entries(scene.errors ?? {}));
    this.#hidden = new Set(scene.hidden);
    this.#problems = scene.problems ?? [];
    if (this.#errors.size > 0) this.summary = this.#problems;
  }

  get rejected(): boolean {
    return this.summary.length > 0;
  }

  reject(reason: string): void {
    this.calls.push(`reject ${reason}`);
  }

  secretEntries(): { path: string; label: string }[] {
    return [];
  }

  account(): undefined {
    return undefined;
  }

  connectAccount(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  sentTo(): string {
    return 'Sent to acme.okta.com, kept for Acme';
  }

  possibleErrors(): string[] {
    return ['Enter the API token'];
  }

  value(path: string): unknown {
    return this.values.get(path);
  }

  setValue(path: string, value: unknown): void {
    this.values.set(path, value);
    const secret = this.#secrets.get(path);
    if (secret?.state === 'reentry') this.#secrets.set(path, { state: 'typing', replaces: secret.kept });
    this.notify(path);
  }

  rows(path: string): number {
    return this.#rows.get(path) ?? 0;
  }

  addRow(path: string): void {
    this.#rows.set(path, this.rows(path) + 1);
    this.notify(path);
  }

  removeRow(path: string, index: number): void {
    const last = this.rows(path) - 1;
    for (const [key, value] of Array.from(this.values)) {
      const match = key.startsWith(`${path}/`) ? /^(\d+)(.*)$/.exec(key.slice(path.length + 1)) : null;
      if (!match) continue;
      const row = Number(match[1]);
      if (row === index) this.values.delete(key);
      if (row > index) {
        this.values.delete(key);
        this.values.set(`${path}/${row - 1}${match[2]}`, value);
      }
    }
    this.#rows.set(path, last);
    this.notify(path);
  }

  secret(path: string): SecretState {
    return this.#secrets.get(path) ?? { state: 'empty' };
  }

  replaceSecret(path: string): void {
    const secret = this.secret(path);
    this.setSecret(path, 'kept' in secret ? { state: 'typing', replaces: secret.kept } : { state: 'typing' });
  }

  keepSecret(path: string): void {
    const secret = this.secret(path);
    const kept = secret.state === 'typing' ? secret.replaces : 'kept' in secret ? secret.kept : undefined;
    this.values.delete(path);
    if (kept) this.setSecret(path, { state: 'kept', kept });
  }

  clearSecret(path: string): void {
    const secret = this.secret(path);
    if ('kept' in secret) this.setSecret(path, { state: 'cleared', kept: secret.kept });
  }

  setSecret(path: string, secret: SecretState): void {
    this.#secrets.set(path, secret);
    this.notify(path);
  }

  shown(path: string): boolean {
    return !this.#hidden.has(path);
  }

  setShown(path: string, shown: boolean): void {
    if (shown) this.#hidden.delete(path);
    else this.#hidden.add(path);
    this.notify(path);
  }

  error(path: string): string | undefined {
    return this.#errors.get(path);
  }

  leave(path: string): void {
    this.calls.push(`leave ${path}`);
    const value = this.values.get(path);
    if (typeof value === 'string' && value !== value.trim()) {
      this.values.set(path, value.trim());
      this.notify(path);
    }
  }

  async save(): Promise<void> {
    this.calls.push('save');
    if (this.#problems.length > 0) {
      this.summary = this.#problems;
      for (const { path, message } of this.#problems) {
        this.#errors.set(path, message);
        this.notify(path);
      }
      this.notify('*');
      return;
    }
    await this.#pass({ saving: true });
    if (this.state.phase === 'editing') this.setState({ phase: 'saved', subject: this.state.subject });
  }

  async test(): Promise<void> {
    this.calls.push('test');
    await this.#pass({ test: { state: 'running' } });
    this.change({ test: { state: 'passed', summary: 'Read 1 event', durationMs: 412 } });
  }

  cancel(): void {
    this.calls.push('cancel');
  }

  discard(): void {
    this.calls.push('discard');
  }

  keepEditing(): void {
    this.calls.push('keepEditing');
    this.change({ leaving: false });
  }

  async retry(): Promise<void> {
    this.calls.push('retry');
  }

  subscribe(path: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(path) ?? new Set();
    this.#listeners.set(path, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Number of active subscriptions, for tests. */
  get listeners(): number {
    return [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  setState(state: FormState): void {
    this.state = state;
    this.notify('*');
  }

  change(part: Partial<Extract<FormState, { phase: 'editing' }>>): void {
    if (this.state.phase === 'editing') this.setState({ ...this.state, ...part });
  }

  notify(path: string): void {
    for (const listener of this.#listeners.get(path) ?? []) listener();
  }

  async #pass(part: Partial<Extract<FormState, { phase: 'editing' }>>): Promise<void> {
    this.change(part);
    await this.actionDone();
  }
}
