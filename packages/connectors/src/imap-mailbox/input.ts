import {
  isRecord,
  type CreateInput,
  type DataRecord,
  type JsonValue,
  type Page,
  type Unreadable,
} from '@connector-frame/engine/connector-api';
import type { ImapFlow } from 'imapflow';
import { imapError, openMailbox } from './client.js';
import { readMailboxTarget, type MailboxTarget } from './config.js';
import { toRecord } from './message.js';

const INTERVAL_MS = 60_000;
/** Messages in a page: each may have many megabytes until it is parsed. */
const PAGE = 10;
/** Bytes of a message that are read. */
const MAX_SOURCE = 2 * 1024 * 1024;
const MAX_SOURCE_WITH_FILES = 30 * 1024 * 1024;

/** Where the reading of a folder is. With another `validity`, the numbers of messages have changed. */
interface Position {
  validity: string;
  uid: number;
}

/**
 * Reads the messages of a folder in the order in which they arrived, without marking them as read.
 * https://datatracker.ietf.org/doc/html/rfc9051#section-2.3.1.1
 */
export const createMailboxInput: CreateInput = (config, { egress }) => {
  const target = readMailboxTarget(config);
  return {
    kind: 'pages',
    intervalMs: INTERVAL_MS,
    readsAhead: true,
    async *pages(cursor, signal) {
      const client = await openMailbox(target, egress, signal);
      const stop = (): void => client.close();
      signal.addEventListener('abort', stop, { once: true });
      try {
        yield* readFolder(client, target, positionIn(cursor));
      } catch (error) {
        signal.throwIfAborted();
        throw imapError(error);
      } finally {
        signal.removeEventListener('abort', stop);
        await client.logout().catch(() => client.close());
      }
    },
  };
};

async function* readFolder(
  client: ImapFlow,
  target: MailboxTarget,
  before: Position | undefined,
): AsyncGenerator<Page, void, void> {
  const folder = await client.mailboxOpen(target.folder, { readOnly: true });
  const validity = String(folder.uidValidity);
  const isSame = before?.validity === validity;
  let uid = isSame ? before.uid : target.fromStart ? 0 : folder.uidNext - 1;
  if (!isSame) {
    const message = 'The server has given the messages of the folder new numbers. The input starts over.';
    const notes = before ? [{ level: 'warn' as const, code: 'folder_reset', message }] : [];
    yield { records: [], cursor: { validity, uid }, notes };
  }
  if (folder.exists === 0 || uid >= folder.uidNext - 1) return;
  // A range whose start is after the last message contains the last message.
  const found = (await client.search({ uid: `${uid + 1}:*` }, { uid: true })) || [];
  const waiting = found.filter((each) => each > uid).toSorted((a, b) => a - b);
  for (let from = 0; from < waiting.length; from += PAGE) {
    const part = waiting.slice(from, from + PAGE);
    const read = await readMessages(client, part, target);
    uid = part.at(-1) ?? uid;
    yield { ...read, cursor: { validity, uid } };
  }
}

async function readMessages(
  client: ImapFlow,
  uids: readonly number[],
  target: MailboxTarget,
): Promise<Pick<Page, 'records' | 'unreadable'>> {
  const maxLength = target.attachments ? MAX_SOURCE_WITH_FILES : MAX_SOURCE;
  const records: DataRecord[] = [];
  const unreadable: Unreadable[] = [];
  // One at a time, so that only one is in memory.
  for (const each of uids) {
    const message = await client.fetchOne(String(each), { internalDate: true, source: { maxLength } }, { uid: true });
    // It was deleted since the search.
    if (!message || !message.source) continue;
    const received = message.internalDate === undefined ? undefined : new Date(message.internalDate);
    try {
      records.push(await toRecord(message.source, each, received, target));
    } catch {
      unreadable.push({ reason: 'invalid_message', found: { uid: each } });
    }
  }
  return { records, ...(unreadable.length > 0 && { unreadable }) };
}

function positionIn(cursor: JsonValue | undefined): Position | undefined {
  if (!isRecord(cursor)) return undefined;
  const { validity, uid } = cursor;
  return typeof validity === 'string' && typeof uid === 'number' ? { validity, uid } : undefined;
}
