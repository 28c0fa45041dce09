import type { FrameUser } from '../support/engines/frame-user.js';

export const ORG_URL = 'https://acme.okta.com';
/** As short as the type allows: each key is pressed. */
export const TOKEN = '00aBcDeFgHiJkLmNoPqR';

/** Types what a new Okta connector needs. */
export async function fill(form: FrameUser): Promise<void> {
  await form.type('Organization URL', ORG_URL);
  await form.type('API token', TOKEN);
}

/** What `fill` typed. */
export async function typedIn(form: FrameUser): Promise<string[]> {
  return [await form.value('Organization URL'), await form.value('API token')];
}
