import { isRecord, type Clock, type Egress, type TesterConfig } from '@connector-frame/engine/connector-api';
import { createApiClient, type ApiClient } from '../_shared/api/api-client.js';
import { toConnectorError } from '../_shared/api/api-error.js';
import { statusFailure, unexpected } from '../_shared/connection-test/failures.js';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import {
  LIST_TIMEOUT_MS,
  ObjectError,
  READ_TIMEOUT_MS,
  type Listed,
  type ObjectSource,
} from '../_shared/objects/store.js';
import { at, text } from '../_shared/read.js';
import { serviceAccount } from '../google/service-account.js';

const ORIGIN = 'https://www.googleapis.com';
const KEY = '/secrets/credentials';
const FOLDER = '/settings/folder_url';
const FOLDER_TYPE = 'application/vnd.google-apps.folder';
const SHEET_TYPE = 'application/vnd.google-apps.spreadsheet';
const FIELDS = 'nextPageToken,files(id,name,mimeType,createdTime,modifiedTime,size,md5Checksum,version)';
const MAX_FOLDERS = 1_000;
/** Google exports at most 10 MB. */
const MAX_EXPORT = 11 * 1024 * 1024;
const MAX_LISTING = 4 * 1024 * 1024;
/** Marks the first sheet of a spreadsheet, exported as CSV. */
const SHEET = '.gsheet.csv';

/**
 * The files of a folder and of the folders in it.
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/files
 */
export class DriveStore implements ObjectSource {
  readonly subject = { product: 'Google Drive', credential: KEY };
  readonly startsAfter = false;
  readonly #client: ApiClient;
  readonly #folder: string;
  readonly #clock: Clock;

  /** @throws ConnectorError `invalid_config`, permanent */
  constructor(config: TesterConfig, egress: Egress, clock: Clock) {
    const url = text(config.settings, 'folder_url') ?? '';
    const id = /\/folders\/([\w-]+)/.exec(url)?.[1] ?? /[?&]id=([\w-]+)/.exec(url)?.[1];
    if (id === undefined)
      throw toConnectorError(failed('invalid_config', 'This is not the address of a folder.', { at: FOLDER }));
    this.#folder = id;
    this.#clock = clock;
    const method = serviceAccount(KEY, ['https://www.googleapis.com/auth/drive.readonly']);
    const options = { subject: this.subject, egress, clock, base: new URL(ORIGIN) };
    this.#client = createApiClient(method, config, options);
  }

  async *list({ signal }: { signal: AbortSignal }): AsyncGenerator<{ objects: Listed[]; at: number }, void, void> {
    const folders = [this.#folder];
    for (const folder of folders) {
      for (let token: string | undefined, first = true; first || token !== undefined; first = false) {
        const page = await this.page(folder, 1_000, signal, token);
        const files = page.files.flatMap((file) => {
          if (at(file, 'mimeType') !== FOLDER_TYPE) return [file];
          const id = text(file, 'id');
          if (id !== undefined && folders.length < MAX_FOLDERS && !folders.includes(id)) folders.push(id);
          return [];
        });
        yield { objects: files.flatMap(listed), at: this.#clock.now() };
        ({ token } = page);
      }
    }
  }

  /** Returns a page of the files in a folder; by default, the one of the settings. */
  async page(
    folder = this.#folder,
    size: number,
    signal: AbortSignal,
    token?: string,
  ): Promise<{ files: unknown[]; token: string | undefined }> {
    const url = this.#url('files', {
      q: `'${folder}' in parents and trashed = false`,
      fields: FIELDS,
      pageSize: String(size),
      includeItemsFromAllDrives: 'true',
      supportsAllDrives: 'true',
      ...(token !== undefined && { pageToken: token }),
    });
    const body = await this.#client.json(
      { url },
      { signal, timeoutMs: LIST_TIMEOUT_MS, maxBytes: MAX_LISTING },
      explain,
    );
    const files = at(body, 'files');
    if (!Array.isArray(files)) throw toConnectorError(unexpected(this.subject));
    return { files, token: text(body, 'nextPageToken') };
  }

  async open({ key }: Listed, offset: number, signal: AbortSignal): Promise<Response> {
    const id = key.slice(0, key.indexOf('/'));
    const isSheet = key.endsWith(SHEET);
    const url = isSheet
      ? this.#url(`files/${id}/export`, { mimeType: 'text/csv' })
      : this.#url(`files/${id}`, { alt: 'media', supportsAllDrives: 'true' });
    const headers = { ...(offset > 0 && { range: `bytes=${offset}-` }) };
    // The size of an export is not known, so it is complete before it is parsed.
    const limits = isSheet ? { maxBytes: MAX_EXPORT } : { stream: true };
    const response = await this.#client.send({ url, headers }, { signal, timeoutMs: READ_TIMEOUT_MS, ...limits });
    if (response.status === 200 || response.status === 206) return response;
    await response.body?.cancel();
    if (response.status === 404) throw new ObjectError('gone');
    const problem = this.#client.problem(response, explain(response.status, undefined));
    if (response.status === 403) throw new ObjectError('denied', problem);
    throw problem;
  }

  #url(path: string, query: Readonly<Record<string, string>>): URL {
    const url = new URL(`${ORIGIN}/drive/v3/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }
}

function listed(file: unknown): Listed[] {
  if (!isRecord(file)) return [];
  const { id, name } = file;
  // An upload keeps the time at which the file was modified before.
  const times = ['createdTime', 'modifiedTime'].map((field) => Date.parse(text(file, field) ?? ''));
  const time = Math.max(...times);
  const isSheet = file['mimeType'] === SHEET_TYPE;
  const size = isSheet ? 1 : Number(text(file, 'size'));
  // Documents of Google have no size: they have no bytes.
  if (typeof id !== 'string' || typeof name !== 'string' || Number.isNaN(time) || Number.isNaN(size)) return [];
  const etag = text(file, 'md5Checksum') ?? text(file, 'version') ?? '';
  return [{ key: `${id}/${name}${isSheet ? SHEET : ''}`, etag, time, size }];
}

/** https://developers.google.com/workspace/drive/api/guides/handle-errors */
function explain(status: number, body: unknown): Failure | undefined {
  const errors = at(body, 'error', 'errors');
  const reason = Array.isArray(errors) ? text(errors[0], 'reason') : undefined;
  if (reason === 'userRateLimitExceeded' || reason === 'rateLimitExceeded')
    return statusFailure(429, { product: 'Google Drive' });
  if (status === 404 || status === 403)
    return failed(status === 404 ? 'not_found' : 'forbidden', 'The service account may not read this folder.', {
      hint: "Share it with the service account's email as a viewer, and enable the Google Drive API.",
      at: [FOLDER, KEY],
    });
  return undefined;
}
