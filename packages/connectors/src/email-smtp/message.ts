import type { Batch } from '@connector-frame/engine/connector-api';
import { alertOf, type AlertRecord } from '../_shared/alert-of.js';

const MAX_SUBJECT = 200;

/** Builds the message for a batch. The same batch has the same `Message-ID`. */
export async function buildMessage(
  batch: Batch,
  { from, to, now }: { from: string; to: readonly string[]; now: number },
): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const alerts = batch.records.map((record) => alertOf(record));
  const [only] = alerts.length === 1 ? alerts : [];
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const texts = batch.records.map((record, index) => {
    const alert = alerts[index];
    const json = JSON.stringify(record, null, 2);
    return alert ? `${describe(alert)}\n\n${json}` : json;
  });
  const composer = new MailComposer({
    from,
    to: [...to],
    subject: cut(subjectOf(alerts)),
    date: new Date(now),
    messageId: `<${batch.id.replaceAll(/[^\w.-]/g, '')}@${domain}>`,
    // Mail programs show the messages of one incident together.
    ...(only && { inReplyTo: `<alert-${only.id}@${domain}>`, references: `<alert-${only.id}@${domain}>` }),
    // RFC 3834: suppresses automatic replies.
    headers: { 'Auto-Submitted': 'auto-generated' },
    text: `${texts.join(`\n\n${'-'.repeat(60)}\n\n`)}\n`,
    // A record is never read as the name of a file or an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

function subjectOf(alerts: readonly (AlertRecord | undefined)[]): string {
  const [first] = alerts;
  if (alerts.length === 1) return first ? `${stateOf(first)}: ${first.name}` : 'A record';
  const known = alerts.filter((alert) => alert !== undefined);
  if (known.length < alerts.length) return `${alerts.length} records`;
  const resolved = known.filter(({ isResolved }) => isResolved).length;
  return `${alerts.length} alerts: ${alerts.length - resolved} firing, ${resolved} resolved`;
}

function stateOf({ isResolved, isReminder, severity }: AlertRecord): string {
  const state = isResolved ? 'RESOLVED' : isReminder ? 'STILL FIRING' : 'FIRING';
  return severity === '' ? state : `[${severity}] ${state}`;
}

function describe(alert: AlertRecord): string {
  const { name, description, subject, node, beganAt, at, isResolved } = alert;
  const place = node === undefined ? subject : `${subject}, ${node}`;
  const times = isResolved ? `From ${time(beganAt)} to ${time(at)}` : `Since ${time(beganAt)}`;
  return [`${stateOf(alert)}: ${name}`, description, `About: ${place}`, times].filter((line) => line !== '').join('\n');
}

const time = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** Does not cut inside a surrogate pair. */
const cut = (value: string): string =>
  value.length <= MAX_SUBJECT ? value : `${value.slice(0, MAX_SUBJECT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
