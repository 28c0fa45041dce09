import { Readable } from 'node:stream';
import type { FileEntryWithStats, SFTPWrapper, Stats } from 'ssh2';
import { EgressError, type Clock, type Egress } from '@connector-frame/engine/connector-api';
import type { Subject } from '../_shared/connection-test/failures.js';
import {
  ObjectError,
  type Listed,
  type ListedPage,
  type ObjectContent,
  type ObjectStore,
} from '../_shared/objects/store.js';
import { openSftp, sftpError, STATUS, statusOf, type SftpSession } from './client.js';
import type { SftpTarget } from './config.js';

export const subject: Subject = { product: 'the SFTP server', address: '/settings/host' };

/** A file that was written in the last milliseconds may be incomplete, unless it is the same a listing later. */
const SETTLE_MS = 60_000;
/** Entries of a listing that are held in memory. */
const MAX_FILES = 100_000;
/** Names of files that are being uploaded. */
const UNFINISHED = /^\.|\.(?:part|partial|tmp|temp|filepart|crdownload|swp)$/i;

/** The files of a folder of an SFTP server, without its subfolders. */
export class SftpStore implements ObjectStore {
  readonly subject = subject;
  readonly startsAfter = false;
  readonly #target: SftpTarget;
  readonly #egress: Egress;
  readonly #clock: Clock;
  #session: Promise<SftpSession> | undefined;
  /** ETags of the last listing, by name. */
  #before = new Map<string, string>();

  constructor(target: SftpTarget, egress: Egress, clock: Clock) {
    this.#target = target;
    this.#egress = egress;
    this.#clock = clock;
  }

  async *list({ signal }: { signal: AbortSignal }): AsyncGenerator<ListedPage, void, void> {
    const at = this.#clock.now();
    const entries = await this.#run('list the folder', signal, (sftp) => readFolder(sftp, this.#target.folder || '.'));
    const seen = new Map<string, string>();
    const objects: Listed[] = [];
    for (const { filename, attrs } of entries.slice(0, MAX_FILES)) {
      if (!isRegular(attrs) || UNFINISHED.test(filename) || filename.includes('/')) continue;
      const object = listed(filename, attrs);
      seen.set(filename, object.etag);
      if (object.time < at - SETTLE_MS || this.#before.get(filename) === object.etag) objects.push(object);
    }
    this.#before = seen;
    yield { objects, at };
  }

  async open(object: Listed, offset: number, signal: AbortSignal): Promise<Response> {
    const path = this.#pathOf(object.key);
    const sftp = await this.#sftp(signal);
    let attrs: Stats;
    try {
      attrs = await promised<Stats>((done) => sftp.stat(path, done));
    } catch (error) {
      const status = statusOf(error);
      const failure = sftpError(error, 'read a file');
      if (status === STATUS.noSuchFile) throw new ObjectError('gone');
      if (status === STATUS.permissionDenied) throw new ObjectError('denied', failure);
      throw failure;
    }
    if (listed(object.key, attrs).etag !== object.etag) throw new ObjectError('replaced');
    const stream = sftp.createReadStream(path, { start: offset, end: Math.max(offset, object.size - 1) });
    // Closing its handle fails after the connection broke, when nothing reads it any more.
    stream.on('error', () => undefined);
    const body = Readable.toWeb(Readable.from(bytesOf(stream, signal)));
    const range = { 'content-range': `bytes ${offset}-${object.size - 1}/${object.size}` };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node declares another type of stream
    return new Response(body as ReadableStream<Uint8Array>, offset === 0 ? {} : { status: 206, headers: range });
  }

  async check(signal: AbortSignal): Promise<void> {
    const folder = this.#target.folder || '.';
    await this.#run('open the folder', signal, async (sftp) => {
      const attrs = await promised<Stats>((done) => sftp.stat(folder, done));
      if (!attrs.isDirectory()) throw Object.assign(new Error(), { code: STATUS.noSuchFile });
    });
  }

  /** Writes a file under another name first: readers of the folder see it once it is complete. */
  async put(key: string, { body }: ObjectContent, signal: AbortSignal): Promise<void> {
    const path = this.#pathOf(key);
    const unfinished = path.replace(/[^/]*$/, (name) => `.${name}.part`);
    await this.#run('write a file', signal, async (sftp) => {
      await promised<void>((done) => sftp.writeFile(unfinished, Buffer.from(body), done));
      await rename(sftp, unfinished, path);
    });
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    this.#session = undefined;
    session?.close();
  }

  #pathOf(key: string): string {
    const { folder } = this.#target;
    return folder === '' ? key : `${folder.replace(/\/$/, '')}/${key}`;
  }

  async #sftp(signal: AbortSignal): Promise<SFTPWrapper> {
    const session = await this.#session?.catch(() => undefined);
    if (session && !session.isOver()) return session.sftp;
    this.#session = openSftp(this.#target, this.#egress, signal);
    return (await this.#session).sftp;
  }

  async #run<T>(doing: string, signal: AbortSignal, work: (sftp: SFTPWrapper) => Promise<T>): Promise<T> {
    const sftp = await this.#sftp(signal);
    // The answer to a request never comes if the connection breaks.
    const ended = new Promise<never>((_resolve, reject) => {
      sftp.once('close', () => reject(new Error('closed')));
    });
    ended.catch(() => undefined);
    const stop = (): void => void this.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([work(sftp), ended]);
    } catch (error) {
      signal.throwIfAborted();
      throw sftpError(error, doing);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}

function listed(key: string, { mtime, size }: Pick<Stats, 'mtime' | 'size'>): Listed {
  return { key, etag: `${mtime}-${size}`, time: mtime * 1_000, size };
}

/** The type in the mode: regular files alone, no links or devices. */
const isRegular = ({ mode }: { mode: number }): boolean => (mode & 0o170000) === 0o100000;

const readFolder = (sftp: SFTPWrapper, folder: string): Promise<FileEntryWithStats[]> =>
  promised((done) => sftp.readdir(folder, done));

/** Replaces a file, with the extension of OpenSSH if the server has it. */
async function rename(sftp: SFTPWrapper, from: string, to: string): Promise<void> {
  try {
    await promised<void>((done) => sftp.ext_openssh_rename(from, to, done));
  } catch {
    await promised<void>((done) => sftp.unlink(to, done)).catch(() => undefined);
    await promised<void>((done) => sftp.rename(from, to, done));
  }
}

const promised = <T>(run: (done: (error: Error | null | undefined, value?: T) => void) => unknown): Promise<T> =>
  new Promise((resolve, reject) => {
    run((error, value) => {
      if (error) reject(error);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without an error, there is a value
      else resolve(value as T);
    });
  });

async function* bytesOf(stream: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  try {
    for await (const chunk of stream) {
      signal.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new EgressError('connect_failed', 'the connection broke', { cause: error });
  }
}
