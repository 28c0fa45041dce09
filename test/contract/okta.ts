import type { FrameUser } from '../support/engines/frame-user.js';

export const ORG_URL = 'https://acme.okta.com';
/** The shortest token the type accepts, because every key is pressed. */
export const TOKEN = '00aBcDeFgHiJkLmNoPqR';

/** Fills in the fields of a new Okta connector. */
export async function fill(form: FrameUser): Promise<void> {
  await form.type('Organization URL', ORG_URL);
  await form.type('API token', TOKEN);
}

/** Returns the values that `fill` typed. */
export async function fieldValues(form: FrameUser): Promise<string[]> {
  return [await form.value('Organization URL'), await form.value('API token')];
}
