/** The API key chosen by the operator of these services. */
export const API_KEY = 'an-operators-own-key-0123456789';

/**
 * Returns environment variables for a service with one organization, that key, and no rate limits
 * per key or organization.
 */
export const operatorsEnvironment = (dataFolder: string, formFolder: string): Record<string, string> => ({
  DATA_DIR: dataFolder,
  FORM_DIR: formFolder,
  BOOTSTRAP_ORGANIZATION: 'Northwind',
  SERVICE_API_KEY: API_KEY,
  RATE_LIMIT_KEY: 'off',
  RATE_LIMIT_ORGANIZATION: 'off',
});
