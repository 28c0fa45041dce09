/** The API key that the operator of these services has chosen. */
export const API_KEY = 'an-operators-own-key-0123456789';

/** Variables of a service with one organization and that key, which may be called as often as a test likes. */
export const operatorsEnvironment = (dataFolder: string, formFolder: string): Record<string, string> => ({
  DATA_DIR: dataFolder,
  FORM_DIR: formFolder,
  BOOTSTRAP_ORGANIZATION: 'Northwind',
  SERVICE_API_KEY: API_KEY,
  RATE_LIMIT_KEY: 'off',
  RATE_LIMIT_ORGANIZATION: 'off',
});
