import type { Shape } from '../template.js';

/**
 * Shapes for types without their own: what sources of one category have in common. The fields
 * follow OCSF, with plain names; vendor and product come first.
 */
const documentation = 'https://schema.ocsf.io/';
const head = { id: '{uuid}', time: '{time.iso}' };
const actor = { id: '{person.number}', name: '{person.name}', email: '{person.email}' };

export const auditEvent: Shape = {
  documentation,
  choices: {
    event: [
      { action: 'user.login', target: 'session' },
      { action: 'user.update', target: 'user' },
      { action: 'role.assign', target: 'role' },
      { action: 'api_key.create', target: 'api_key' },
      { action: 'setting.change', target: 'setting' },
    ],
    outcome: ['success', 'success', 'success', 'failure'],
  },
  record: {
    ...head,
    action: '{event.action}',
    outcome: '{outcome}',
    actor,
    source: { ip: '{ip}', user_agent: '{agent}' },
    target: { type: '{event.target}', id: '{hex:12}' },
  },
};

export const identityEvent: Shape = {
  documentation,
  choices: {
    event: [
      { type: 'authentication', outcome: 'success', reason: null },
      { type: 'authentication', outcome: 'success', reason: null },
      { type: 'authentication', outcome: 'failure', reason: 'invalid_credentials' },
      { type: 'mfa_challenge', outcome: 'success', reason: null },
      { type: 'account_locked', outcome: 'failure', reason: 'too_many_attempts' },
    ],
  },
  record: {
    ...head,
    event_type: '{event.type}',
    outcome: '{event.outcome}',
    reason: '{event.reason}',
    user: actor,
    source: { ip: '{ip}', user_agent: '{agent}' },
    application: 'Example App',
  },
};

export const cloudEvent: Shape = {
  documentation,
  choices: {
    event: [
      { operation: 'instance.create', resource: 'instance' },
      { operation: 'bucket.policy.update', resource: 'bucket' },
      { operation: 'key.disable', resource: 'key' },
      { operation: 'network.rule.create', resource: 'network' },
    ],
    region: ['us-east-1', 'eu-west-1', 'ap-southeast-2'],
  },
  record: {
    ...head,
    operation: '{event.operation}',
    status: 'success',
    account: '123456789012',
    region: '{region}',
    actor,
    source_ip: '{ip}',
    resource: { type: '{event.resource}', id: '{event.resource}-{hex:12}' },
  },
};

export const networkEvent: Shape = {
  documentation,
  choices: { action: ['allow', 'allow', 'allow', 'block'], port: [53, 80, 443, 22, 3389] },
  record: {
    ...head,
    action: '{action}',
    protocol: 'tcp',
    source: { ip: '{ip}', port: '{int:1024:65535}' },
    destination: { ip: '{ip#2}', port: '{port}', hostname: '{host}.example.com' },
    bytes_in: '{int:60:900000}',
    bytes_out: '{int:60:90000}',
    rule: 'example-rule',
  },
};

export const alert: Shape = {
  documentation,
  choices: {
    finding: [
      { title: 'Suspicious process', severity: 'high', technique: 'T1059' },
      { title: 'Malware was quarantined', severity: 'medium', technique: 'T1204' },
      { title: 'Credentials were read from memory', severity: 'critical', technique: 'T1003' },
      { title: 'Unusual sign-in', severity: 'low', technique: 'T1078' },
    ],
    status: ['new', 'in_progress', 'resolved'],
  },
  record: {
    ...head,
    title: '{finding.title}',
    severity: '{finding.severity}',
    status: '{status}',
    technique: '{finding.technique}',
    device: { hostname: '{host}.example.com', ip: '{ip}', mac: '{mac}' },
    user: actor,
    process: { name: 'example.exe', pid: '{int:200:30000}', sha256: '{hex:64}' },
  },
};

export const vulnerability: Shape = {
  documentation,
  choices: {
    issue: [
      { title: 'Remote code execution in example-server', severity: 'critical', score: 9.8 },
      { title: 'Denial of service in example-parser', severity: 'high', score: 7.5 },
      { title: 'Outdated TLS version', severity: 'medium', score: 5.3 },
    ],
    status: ['open', 'open', 'fixed'],
  },
  record: {
    ...head,
    title: '{issue.title}',
    cve: 'CVE-2099-{int:10000:99999}',
    severity: '{issue.severity}',
    cvss_score: '{issue.score}',
    status: '{status}',
    first_seen: '{time.iso:-604800}',
    last_seen: '{time.iso}',
    asset: { id: '{uuid#2}', hostname: '{host}.example.com', ip: '{ip}' },
    package: { name: 'example-server', version: '2.3.0', fixed_in: '2.4.1' },
  },
};

export const asset: Shape = {
  documentation,
  choices: { os: ['Linux', 'macOS', 'Windows'], kind: ['server', 'laptop', 'desktop'] },
  record: {
    ...head,
    hostname: '{host}.example.com',
    type: '{kind}',
    os: { name: '{os}', version: '{int:10:15}.{int:0:9}' },
    ip_addresses: ['{ip}'],
    mac_addresses: ['{mac}'],
    owner: actor,
    first_seen: '{time.iso:-31536000}',
    last_seen: '{time.iso}',
  },
};
