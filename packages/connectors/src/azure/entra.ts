import type { ConnectorConfig, PollSingleAuthentication } from '@connector-frame/catalog/types';
import type { TesterConfig } from '@connector-frame/engine/connector-api';
import { text } from '../_shared/read.js';

/**
 * Signs in as an app of Microsoft Entra ID.
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 * @param scope of the service: `https://storage.azure.com/.default`
 */
export const entraAuthentication = (scope: string): PollSingleAuthentication => ({
  kind: 'client_credentials',
  token_url: 'https://login.microsoftonline.com/{{/settings/tenant_id}}/oauth2/v2.0/token',
  client_id: '/secrets/client_id',
  client_secret: '/secrets/client_secret',
  client: 'body',
  parameters: { scope },
});

/** Returns the configuration with the tenant in the settings: it is a secret of some types. */
export function withTenant({ settings, secrets }: TesterConfig): ConnectorConfig {
  const tenant = text(settings, 'tenant_id') ?? text(secrets, 'tenant_id');
  return { settings: { ...settings, tenant_id: tenant }, secrets };
}
