import type { Shape } from '../template.js';

export const gitHubAuditLogs: Shape = {
  documentation: 'https://docs.github.com/en/enterprise-cloud@latest/rest/enterprise-admin/audit-log',
  choices: {
    event: [
      { action: 'git.clone', operation: 'access' },
      { action: 'repo.create', operation: 'create' },
      { action: 'repo.access', operation: 'modify' },
      { action: 'protected_branch.destroy', operation: 'remove' },
      { action: 'org.add_member', operation: 'create' },
      { action: 'personal_access_token.access_granted', operation: 'create' },
    ],
    repo: ['example-org/web', 'example-org/api', 'example-org/infrastructure'],
  },
  record: {
    '@timestamp': '{time.milliseconds}',
    _document_id: '{letters:22}',
    action: '{event.action}',
    actor: '{person.login}',
    actor_id: '{person.number}',
    actor_ip: '{ip}',
    actor_location: { country_code: 'US' },
    business: 'example',
    business_id: 1,
    created_at: '{time.milliseconds}',
    operation_type: '{event.operation}',
    org: 'example-org',
    org_id: 42,
    repo: '{repo}',
    repo_id: '{int:1000:1020}',
    public_repo: false,
    user: '{person.login}',
    user_id: '{person.number}',
    user_agent: '{agent}',
    request_id: '{uuid}',
  },
};

const advisory = (name: string, ecosystem: string, severity: string, score: number, summary: string) => ({
  name,
  ecosystem,
  severity,
  score,
  summary,
});

export const dependabotAlerts: Shape = {
  documentation: 'https://docs.github.com/en/rest/dependabot/alerts',
  choices: {
    state: ['open', 'open', 'fixed', 'dismissed'],
    advisory: [
      advisory('example-parser', 'npm', 'high', 7.5, 'Denial of service by a crafted text'),
      advisory('example-http', 'pip', 'medium', 5.3, 'Headers can be split'),
      advisory('example-template', 'maven', 'critical', 9.8, 'Code can be run from a template'),
    ],
  },
  record: {
    number: '{sequence}',
    state: '{state}',
    dependency: {
      package: { ecosystem: '{advisory.ecosystem}', name: '{advisory.name}' },
      manifest_path: 'package-lock.json',
      scope: 'runtime',
      relationship: 'transitive',
    },
    security_advisory: {
      ghsa_id: 'GHSA-{letters:4}-{letters:4#2}-{letters:4#3}',
      cve_id: 'CVE-2099-{int:10000:99999}',
      summary: '{advisory.summary}',
      description: '{advisory.summary}.',
      severity: '{advisory.severity}',
      identifiers: [{ type: 'CVE', value: 'CVE-2099-{int:10000:99999}' }],
      references: [{ url: 'https://example.com/advisories/{int:10000:99999}' }],
      cvss: { vector_string: null, score: '{advisory.score}' },
      cwes: [{ cwe_id: 'CWE-400', name: 'Uncontrolled Resource Consumption' }],
      published_at: '{time.iso_seconds:-604800}',
      updated_at: '{time.iso_seconds:-86400}',
      withdrawn_at: null,
    },
    security_vulnerability: {
      package: { ecosystem: '{advisory.ecosystem}', name: '{advisory.name}' },
      severity: '{advisory.severity}',
      vulnerable_version_range: '< 2.4.1',
      first_patched_version: { identifier: '2.4.1' },
    },
    url: 'https://api.github.example.com/repos/example-org/web/dependabot/alerts/{sequence}',
    html_url: 'https://github.example.com/example-org/web/security/dependabot/{sequence}',
    created_at: '{time.iso_seconds:-3600}',
    updated_at: '{time.iso_seconds}',
    dismissed_at: null,
    dismissed_by: null,
    dismissed_reason: null,
    dismissed_comment: null,
    fixed_at: null,
    auto_dismissed_at: null,
    repository: { id: '{int:1000:1020}', name: 'web', full_name: 'example-org/web', private: true },
  },
};
