import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';
import type { Address, Attachment } from 'postal-mime';
import type { MailboxTarget } from './config.js';

/** Characters of all files in a record, in Base64: a record may have 512 KiB. */
const MAX_FILES = 350_000;
/** Depth of messages in messages and characters of headers that are parsed. */
const LIMITS = { maxNestingDepth: 20, maxHeadersSize: 1_000_000 };

/** Converts a message to a record: headers, texts, and attachments. */
export async function toRecord(
  source: Uint8Array,
  uid: number,
  received: Date | undefined,
  { attachments, maxBody }: Pick<MailboxTarget, 'attachments' | 'maxBody'>,
): Promise<DataRecord> {
  const { default: PostalMime } = await import('postal-mime');
  const mail = await PostalMime.parse(source, { ...LIMITS, attachmentEncoding: 'base64' });
  let left = attachments ? MAX_FILES : 0;
  const files = mail.attachments.map((file): DataRecord => {
    const content = typeof file.content === 'string' ? file.content : '';
    const fits = content.length <= left;
    if (fits) left -= content.length;
    return describe(file, content, attachments && fits);
  });
  return defined({
    uid,
    message_id: mail.messageId,
    subject: mail.subject,
    from: addresses(mail.from && [mail.from])[0],
    to: addresses(mail.to),
    cc: addresses(mail.cc),
    reply_to: addresses(mail.replyTo),
    date: mail.date,
    received: received?.toISOString(),
    in_reply_to: mail.inReplyTo,
    text: mail.text?.slice(0, maxBody),
    html: mail.html?.slice(0, maxBody),
    ...((mail.text?.length ?? 0) > maxBody || (mail.html?.length ?? 0) > maxBody ? { truncated: true } : {}),
    headers: mail.headers.map(({ key, value }) => ({ name: key, value })),
    attachments: files,
  });
}

function describe({ filename, mimeType, disposition }: Attachment, content: string, isIncluded: boolean): DataRecord {
  const padding = /=*$/.exec(content)?.[0].length ?? 0;
  return defined({
    filename: filename ?? undefined,
    mime_type: mimeType,
    disposition: disposition ?? undefined,
    size: (content.length / 4) * 3 - padding,
    ...(isIncluded && { content }),
  });
}

const addresses = (list: readonly Address[] | undefined): DataRecord[] =>
  (list ?? []).flatMap(({ name, address, group }) =>
    group ? addresses(group) : [defined({ name: name === '' ? undefined : name, address })],
  );

/** Leaves out missing and empty fields. */
const defined = (values: Readonly<Record<string, JsonValue | undefined>>): DataRecord =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  );
