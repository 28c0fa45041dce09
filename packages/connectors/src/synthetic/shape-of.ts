import type { ConnectorTypeData } from '@connector-frame/catalog/types';
import type { DataRecord } from '@connector-frame/engine/connector-api';
import { withPolledFields } from './polled-fields.js';
import { auth0Logs } from './shapes/auth0.js';
import { cloudTrail, guardDuty } from './shapes/aws.js';
import { azureActivityLogs } from './shapes/azure.js';
import { cloudflareAuditLogs } from './shapes/cloudflare.js';
import { crowdStrikeEventStream, crowdStrikeVulnerabilities } from './shapes/crowdstrike.js';
import { duoAuthLogs } from './shapes/duo.js';
import { email } from './shapes/email.js';
import { alert, asset, auditEvent, cloudEvent, identityEvent, networkEvent, vulnerability } from './shapes/families.js';
import { dependabotAlerts, gitHubAuditLogs } from './shapes/github.js';
import { gitLabAuditEvents } from './shapes/gitlab.js';
import { googleAdminActivity, googleLoginActivity } from './shapes/google.js';
import { ocsfAuthentication } from './shapes/ocsf.js';
import { oktaSystemLog, oktaUsers } from './shapes/okta.js';
import { oneLoginEvents } from './shapes/one-login.js';
import { onePasswordEvents } from './shapes/one-password.js';
import { otelLogs } from './shapes/otel.js';
import { sentryAuditLogs } from './shapes/sentry.js';
import { slackAuditLogs } from './shapes/slack.js';
import { snykIssues } from './shapes/snyk.js';
import { syslog } from './shapes/syslog.js';
import { tailscaleDevices } from './shapes/tailscale.js';
import { tenableVulnerabilities } from './shapes/tenable.js';
import { zoomActivityLogs } from './shapes/zoom.js';
import { compileShape, type MakeRecord, type Shape } from './template.js';

/** Shapes by type ID, and by the record type of the `demo` input. */
const byType: ReadonlyMap<string, Shape> = new Map([
  ['1password-events', onePasswordEvents],
  ['auth0-logs', auth0Logs],
  ['aws-guardduty', guardDuty],
  ['cloudflare-audit-logs', cloudflareAuditLogs],
  ['cloudtrail', cloudTrail],
  ['crowdstrike-event-stream', crowdStrikeEventStream],
  ['crowdstrike-vulnerabilities', crowdStrikeVulnerabilities],
  ['crowdstrike-vulnerabilities-cron', crowdStrikeVulnerabilities],
  // The name that clients of the public API give to the `demo` input.
  ['crowdstrike_vulnerabilities', crowdStrikeVulnerabilities],
  ['duo-security-auth-logs', duoAuthLogs],
  ['github-audit-logs', gitHubAuditLogs],
  ['github-dependabot-alerts', dependabotAlerts],
  ['gitlab-audit-events', gitLabAuditEvents],
  ['google-workspace-admin-activity', googleAdminActivity],
  ['google-workspace-login-activity', googleLoginActivity],
  ['microsoft-azure-activity-logs', azureActivityLogs],
  ['monad-otel', otelLogs],
  ['monad-syslog', syslog],
  ['ocsf', ocsfAuthentication],
  ['okta-systemlog', oktaSystemLog],
  ['okta-users', oktaUsers],
  ['onelogin-events', oneLoginEvents],
  ['sentry-organization-audit-logs', sentryAuditLogs],
  ['slack-enterprise-audit-logs', slackAuditLogs],
  ['snyk-issues', snykIssues],
  ['syslog', syslog],
  ['tailscale-devices', tailscaleDevices],
  ['tenable-vulnerabilities', tenableVulnerabilities],
  ['zoom-activity-logs', zoomActivityLogs],
]);

/** Shapes by words in the category; the first match applies. */
const byCategory: readonly (readonly [RegExp, Shape])[] = [
  [/identity/i, identityEvent],
  [/vulnerab/i, vulnerability],
  [/endpoint|threat|incident|security operations|behavior/i, alert],
  [/network|web application|things|operational technology/i, networkEvent],
  [/cloud/i, cloudEvent],
  [/e-?mail/i, email],
  [/asset|mdm/i, asset],
  [/system logs/i, syslog],
];

export type ShapedType = Pick<ConnectorTypeData, 'type_id' | 'name' | 'vendor' | 'category' | 'poll'>;

/**
 * Returns a generator for records of a type: as its vendor documents them, otherwise typical of its
 * category, with id and time in the vendor's fields if it is polled.
 */
export function shapeOf({ type_id: id, name, vendor, category, poll }: ShapedType): MakeRecord {
  const own = byType.get(id);
  if (own) return compileShape(own);
  const shape = byCategory.find(([words]) => words.test(category))?.[1] ?? auditEvent;
  const record = { vendor, product: name, ...shape.record };
  const polled = poll?.streams[0]?.records;
  return compileShape({ ...shape, record: polled ? withPolledFields(record, polled) : record });
}

/** The record types of `exampleRecord`. */
export const RECORD_TYPES: readonly string[] = [...byType.keys()];

/**
 * Returns a synthetic record of a type, or `undefined` if the type is unknown.
 * @param number the same number and time give the same record
 * @param at milliseconds since the epoch
 *
 * @example
 * exampleRecord('okta-systemlog', 0, Date.now());
 */
export function exampleRecord(type: string, number: number, at: number): DataRecord | undefined {
  const shape = byType.get(type);
  return shape && compileShape(shape)(number, at);
}
