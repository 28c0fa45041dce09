import { createHash } from 'node:crypto';
import type { DataRecord } from '@connector-frame/engine/connector-api';

const people = ['ana.silva', 'ben.okafor', 'chen.wei', 'dana.levi', 'emre.kaya', 'fatima.noor'];
const agents = [
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5)',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64)',
  'curl/8.7.1',
];
const actions = [
  { event_type: 'user.session.start', target: 'Session', severity: 'INFO' },
  { event_type: 'user.authentication.mfa', target: 'Factor', severity: 'INFO' },
  { event_type: 'application.access.grant', target: 'Application', severity: 'INFO' },
  { event_type: 'user.account.update_profile', target: 'User', severity: 'INFO' },
  { event_type: 'policy.rule.update', target: 'Policy', severity: 'WARN' },
  { event_type: 'system.api_token.create', target: 'Token', severity: 'WARN' },
];

/**
 * Creates a synthetic event like those in the audit log of a SaaS product. The same number and time
 * give the same event.
 * @param at milliseconds since the epoch
 */
export function auditEvent(number: number, at: number): DataRecord {
  const digest = createHash('sha256').update(String(number)).digest();
  const dice = (index: number, sides: number): number => (digest[index] ?? 0) % sides;
  const id = digest.toString('hex');
  const person = people[dice(0, people.length)] ?? '';
  const { event_type, target, severity } = actions[dice(1, actions.length)] ?? {};
  const failed = dice(2, 12) === 0;
  return {
    id: `${id.slice(0, 8)}-${id.slice(8, 12)}-4${id.slice(13, 16)}-a${id.slice(17, 20)}-${id.slice(20, 32)}`,
    published: new Date(at + (number % 100)).toISOString(),
    event_type,
    severity: failed ? 'ERROR' : severity,
    actor: { id: `usr_${dice(0, people.length)}`, type: 'User', email: `${person}@example.com` },
    client: { ip: `198.51.100.${dice(3, 254) + 1}`, user_agent: agents[dice(4, agents.length)] },
    outcome: failed ? { result: 'FAILURE', reason: 'INVALID_CREDENTIALS' } : { result: 'SUCCESS' },
    targets: [{ id: `obj_${dice(5, 200)}`, type: target }],
    synthetic: true,
  };
}
