import type { Form } from './form.js';

export const ORG_URL = 'https://acme.okta.com';
/** As short as the type allows: each key is pressed. */
export const TOKEN = '00aBcDeFgHiJkLmNoPqR';

/** Types what a new Okta connector needs. */
export async function fill(form: Form): Promise<void> {
  await form.type('Organization URL', ORG_URL);
  await form.type('API token', TOKEN);
}

/** What `fill` typed. */
export async function typedIn(form: Form): Promise<string[]> {
  return [await form.value('Organization URL'), await form.value('API token')];
}
