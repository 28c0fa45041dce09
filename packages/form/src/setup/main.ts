/** Shows what a customer has to set up at the vendor. */
import type { Messages } from '../messages/index.js';
import type { Api } from '../model/api.js';
import type { Form } from '../model/form.js';
import type { AwsTrust, Setup } from '../model/wire.js';
import type { SecretControl } from '../view/protected/secret-control.js';
import { awsSteps, linesOf, quickCreateUrl, type Step } from './aws-role.js';
import { createLookup, fill, type Lookup } from './fill.js';
import { createPrivateKey, publicKeyOf } from './key-pair.js';
import { createCopyable, createPanel, make } from './panel.js';

export interface SetupContext {
  form: Pick<Form, 'value' | 'subscribe' | 'replaceSecret' | 'leave'>;
  setup: Setup;
  messages: Messages;
  /** Sheet with the colors of the form's shadow roots. */
  colors: CSSStyleSheet;
  api: Pick<Api, 'awsTrust'>;
}

/** Renders the section in `host`, an empty element. */
export function mountSetup(host: HTMLElement, { form, setup, messages: m, colors, api }: SetupContext): void {
  const { field, title, aws_role: role, key_pair: keyPair, steps = [] } = setup;
  const statements = role?.statements ?? [];
  const template = JSON.stringify(setup);
  const hasPublicKey = template.includes(':public_key}}');
  // What is copied is shown by its button.
  const status = make('p', { role: 'status', className: keyPair ? '' : 'unseen' });
  const say = (text: string): void => void (status.textContent = text);
  let trust: AwsTrust | undefined;
  let update: (() => void) | undefined;

  const panel = createPanel(host, title, colors, () => {
    if (panel.open) void show();
  });

  async function show(): Promise<void> {
    if (role && !trust) {
      try {
        trust = await api.awsTrust();
      } catch {
        return panel.show(make('p', {}, m.reasons.unreachable[0]));
      }
    }
    if (trust?.account_id === null) {
      trust = undefined;
      return panel.show(make('p', {}, m.awsNone));
    }
    build(trust);
  }

  function build(trusted: AwsTrust | undefined): void {
    const all: Step[] = [
      ...(trusted ? awsSteps(trusted, statements, m) : []),
      ...steps.map(({ title, text }) => ({
        title,
        rows: linesOf(text),
        text: (lookup: Lookup) => fill(text, lookup),
      })),
    ];
    const copyables = all.map((step) => createCopyable(step, m, say));
    const link = make('a', { target: '_blank', rel: 'noopener noreferrer', textContent: m.awsQuickCreate });
    const create = make('button', { type: 'button', textContent: m.createKeyPair });
    create.addEventListener('click', () => void createKeyPair());
    let count = 0;
    update = () => void refresh();

    async function refresh(): Promise<void> {
      const revision = (count += 1);
      const key = form.value(field);
      const publicKey = hasPublicKey && typeof key === 'string' ? await publicKeyOf(key) : undefined;
      if (revision !== count) return;
      const lookup = createLookup((path) => form.value(path), {
        partition: trusted?.partition ?? undefined,
        public_key: publicKey,
      });
      for (const copyable of copyables) copyable.update(lookup);
      const url = trusted && quickCreateUrl(trusted, statements, lookup, form.value('/settings/region'));
      link.hidden = !url;
      if (url) link.href = url;
    }

    void refresh();
    panel.show(
      trusted && link,
      keyPair && create,
      ...copyables.map(({ element }) => element),
      template.includes('{{/') || template.includes('<') ? make('p', {}, m.setupReplace) : undefined,
      status,
    );
  }

  async function createKeyPair(): Promise<void> {
    // A stored key has no control.
    if (!isControl(controlOf(field))) form.replaceSecret(field);
    const key = await createPrivateKey();
    const control = controlOf(field);
    // The control rejects it while it is not all in view, and says so.
    if (!isControl(control) || !(await control.replaceText(key))) return;
    form.leave(field);
    say(m.keyPairCreated);
  }

  const changed = (): void => {
    if (panel.open) update?.();
  };
  for (const [path] of template.matchAll(/\/(?:settings|secrets)(?:\/\w+)+/g)) form.subscribe(path, changed);
  // Rows of lists have their own paths.
  document.addEventListener('input', changed);
}

const controlOf = (path: string): HTMLElement | null => document.getElementById(`cf${path}`);

const isControl = (element: HTMLElement | null): element is SecretControl =>
  element !== null && 'replaceText' in element;
