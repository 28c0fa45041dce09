import { CONNECTOR_KINDS } from '@connector-frame/catalog';
import type { FormAssets } from '../embed/form-assets.js';
import { createLogStreams } from '../http/log-streams.js';
import type { Route } from '../http/route.js';
import { alertRuleRoutes } from './alert-rules.js';
import { alertRoutes } from './alerts.js';
import { apiKeyRoutes } from './api-keys.js';
import { auditLogRoutes } from './audit-logs.js';
import { awsRoutes } from './aws.js';
import { billingAccountRoutes } from './billing-accounts.js';
import { billingProductRoutes } from './billing-products.js';
import { billingRoleRoutes } from './billing-roles.js';
import { billingStatementRoutes } from './billing-statements.js';
import { catalogRoutes } from './catalog.js';
import { connectionTestRoutes } from './connection-tests.js';
import { connectorPreviewRoutes } from './connector-previews.js';
import { connectorWriteRoutes } from './connector-writes.js';
import { connectorRoutes } from './connectors.js';
import type { RouteContext } from './context.js';
import { deadLetterRoutes } from './dead-letters.js';
import { dropInRoutes, type DropInOptions } from './drop-in.js';
import { embedRoutes } from './embed.js';
import { enrichmentSandboxRoutes } from './enrichment-sandbox.js';
import { enrichmentTypeRoutes } from './enrichment-types.js';
import { healthRoutes, type HealthOptions } from './health.js';
import { featureFlagRoutes } from './feature-flags.js';
import { iconRoutes } from './icons.js';
import { integrationRoutes } from './integrations.js';
import { inviteRoutes } from './invites.js';
import { keyValueRoutes } from './key-values.js';
import { logStreamRoutes } from './log-streams.js';
import { loginAccountRoutes } from './login-accounts.js';
import { loginPageRoutes } from './login-pages.js';
import { loginRoutes } from './login.js';
import { loginSamlRoutes } from './login-saml.js';
import { edgeSchemaRoutes } from './edge-schemas.js';
import { nodeDataRoutes } from './node-data.js';
import { nodeTestRoutes } from './node-tests.js';
import { oauthRoutes } from './oauth.js';
import { organizationMetricsRoutes } from './organization-metrics.js';
import { organizationRoutes } from './organizations.js';
import { organizationUserRoutes } from './organization-users.js';
import { pipelineActivityRoutes } from './pipeline-activity.js';
import { pipelineDeliveryRoutes } from './pipeline-delivery.js';
import { pipelineMetricsRoutes } from './pipeline-metrics.js';
import { pipelineOverviewRoutes } from './pipeline-overview.js';
import { pipelineWriteRoutes } from './pipeline-writes.js';
import { pipelineRoutes } from './pipelines.js';
import { quotaRoutes } from './quotas.js';
import { resourceShareRoutes } from './resource-shares.js';
import { roleKeyRoutes } from './role-keys.js';
import { roleRoutes } from './roles.js';
import { sandboxRoutes } from './sandbox.js';
import { secretRoutes } from './secrets.js';
import { sessionRoutes } from './sessions.js';
import { ssoConnectionRoutes } from './sso-connections.js';
import { storageTypeCostRoutes } from './storage-type-costs.js';
import { transformTypeRoutes } from './transform-types.js';
import { transformRepositoryRoutes } from './transform-repository.js';
import { transformRoutes } from './transforms.js';
import { usageRoutes } from './usage.js';
import { userRoutes } from './users.js';

export interface AllRoutesOptions {
  context: RouteContext;
  health: HealthOptions;
  apiBases: readonly string[];
  form?: FormAssets;
  dropIn?: DropInOptions;
}

/**
 * Returns every route of the service. The catalog comes first: `/v1/inputs/okta-systemlog` must not
 * match `/v1/{org}/...`.
 */
export function allRoutes({ context, health, apiBases, form, dropIn }: AllRoutesOptions): Route[] {
  const ends = ['input', 'output'] as const;
  const streams = createLogStreams(context);
  return [
    ...CONNECTOR_KINDS.flatMap((kind) => catalogRoutes(context, kind)),
    ...oauthRoutes(context),
    ...awsRoutes(context),
    ...CONNECTOR_KINDS.flatMap((kind) => [
      ...connectorRoutes(context, kind),
      ...connectionTestRoutes(context, kind),
      ...connectorWriteRoutes(context, kind),
    ]),
    ...ends.flatMap((kind) => connectorPreviewRoutes(context, kind)),
    ...enrichmentTypeRoutes(context),
    ...enrichmentSandboxRoutes(context),
    ...keyValueRoutes(context),
    // Before the routes of one pipeline, whose `{id}` would match `statuses`.
    ...pipelineOverviewRoutes(context),
    ...pipelineMetricsRoutes(context),
    ...pipelineRoutes(context),
    ...pipelineActivityRoutes(context, streams),
    ...logStreamRoutes(context, streams),
    ...nodeDataRoutes(context, streams),
    ...edgeSchemaRoutes(context),
    ...alertRuleRoutes(context),
    ...alertRoutes(context, streams),
    ...pipelineDeliveryRoutes(context),
    ...nodeTestRoutes(context),
    ...deadLetterRoutes(context),
    ...pipelineWriteRoutes(context),
    ...transformTypeRoutes(),
    ...sandboxRoutes(context),
    ...transformRoutes(context),
    ...transformRepositoryRoutes(),
    ...integrationRoutes(context),
    ...secretRoutes(context),
    ...sessionRoutes(context),
    ...organizationRoutes(context),
    ...resourceShareRoutes(context),
    ...apiKeyRoutes(context),
    ...roleKeyRoutes(context),
    ...roleRoutes(context),
    ...loginRoutes(context),
    ...loginPageRoutes(context),
    ...loginAccountRoutes(context),
    ...loginSamlRoutes(context),
    ...userRoutes(context),
    ...organizationUserRoutes(context),
    ...inviteRoutes(context),
    ...ssoConnectionRoutes(context),
    ...featureFlagRoutes(context),
    ...auditLogRoutes(context),
    ...organizationMetricsRoutes(context),
    ...usageRoutes(context),
    ...storageTypeCostRoutes(context),
    ...quotaRoutes(context),
    ...billingAccountRoutes(context),
    ...billingRoleRoutes(context),
    ...billingProductRoutes(context),
    ...billingStatementRoutes(context),
    ...iconRoutes(context),
    ...(form ? embedRoutes(context, form, apiBases) : []),
    ...(dropIn ? dropInRoutes(dropIn) : []),
    ...healthRoutes(context, health),
  ];
}
