import type { PollSingleAuthentication } from '@connector-frame/catalog/types';

/**
 * Signs in as a service account, with a JWT that its key signs.
 * https://developers.google.com/identity/protocols/oauth2/service-account#httprest
 * @param key secret with the JSON file of the key
 */
export const serviceAccount = (key: string, scopes: readonly string[]): PollSingleAuthentication => ({
  kind: 'private_key_jwt',
  grant: 'jwt_bearer',
  token_url: 'https://oauth2.googleapis.com/token',
  key,
  key_format: 'service_account',
  scopes,
});
