import { isRecord, type Clock, type Egress, type TesterConfig } from '@connector-frame/engine/connector-api';
import { createApiClient, type ApiClient } from '../_shared/api/api-client.js';
import { toConnectorError } from '../_shared/api/api-error.js';
import { unexpected, unreachable } from '../_shared/connection-test/failures.js';
import { failed, type Failure } from '../_shared/connection-test/outcome.js';
import { pathOf } from '../_shared/objects/object-path.js';
import {
  LIST_TIMEOUT_MS,
  ObjectError,
  READ_TIMEOUT_MS,
  type Listed,
  type ListedPage,
  type Listing,
  type ObjectSource,
} from '../_shared/objects/store.js';
import { at, text } from '../_shared/read.js';
import { entraAuthentication } from '../azure/entra.js';

const GRAPH = 'https://graph.microsoft.com';
const KEY = '/secrets/credentials';
const SITE = '/settings/site_url';
const FOLDER = '/settings/folder_path';
const MAX_FOLDERS = 1_000;
const MAX_LISTING = 4 * 1024 * 1024;
const SELECT = '$select=id,name,size,createdDateTime,lastModifiedDateTime,cTag,file,folder';
/** Hosts that files are downloaded from. */
const DOWNLOADS = /\.(?:sharepoint\.(?:com|us|cn)|svc\.ms)$/;

interface Page {
  items: unknown[];
  next: URL | undefined;
}

/**
 * The files in the document libraries of a site.
 * https://learn.microsoft.com/graph/api/resources/onedrive
 */
export class SharePointStore implements ObjectSource {
  readonly subject = { product: 'Microsoft SharePoint', credential: KEY };
  readonly startsAfter = false;
  readonly #client: ApiClient;
  readonly #egress: Egress;
  readonly #clock: Clock;
  readonly #site: string;
  /** Path of a folder, as in URLs; empty for the top of the library. */
  readonly #folder: string;
  readonly #user: string | undefined;

  /** @throws ConnectorError `invalid_config`, permanent */
  constructor({ settings, secrets }: TesterConfig, egress: Egress, clock: Clock) {
    if (text(settings, 'search_scope') === 'SHARED_ITEMS')
      throw invalid('An app has no shared files. Choose the document libraries.', '/settings/search_scope');
    const site = text(settings, 'site_url');
    this.#site = siteOf(site);
    this.#folder = folderOf(text(settings, 'folder_path') ?? '.');
    const credentials = parse(text(secrets, 'credentials') ?? '');
    const [tenant, id, secret] = ['tenant_id', 'client_id', 'client_secret'].map((name) => text(credentials, name));
    if (tenant === undefined || id === undefined || secret === undefined)
      throw invalid('Enter JSON with tenant_id, client_id and client_secret of an app.', KEY);
    this.#user = site === undefined ? text(credentials, 'user_principal_name') : undefined;
    this.#egress = egress;
    this.#clock = clock;
    this.#client = createApiClient(
      entraAuthentication(`${GRAPH}/.default`),
      { settings: { tenant_id: tenant }, secrets: { client_id: id, client_secret: secret } },
      { subject: this.subject, egress, clock, base: new URL(GRAPH) },
    );
  }

  async *list({ signal }: Listing): AsyncGenerator<ListedPage, void, void> {
    let found = false;
    for (const drive of await this.drives(signal)) {
      const folders = [`root${this.#folder}`];
      for (const folder of folders) {
        let url: URL | undefined = new URL(`${GRAPH}/v1.0/drives/${drive}/${folder}/children?$top=200&${SELECT}`);
        while (url) {
          // Not every library has the folder of the settings.
          const page: Page | undefined = await this.#page(url, signal, folder === folders[0]);
          if (!page) break;
          found = true;
          for (const item of page.items) {
            const id = text(item, 'id');
            if (isRecord(at(item, 'folder')) && id !== undefined && folders.length < MAX_FOLDERS)
              folders.push(`items/${encodeURIComponent(id)}`);
          }
          yield { objects: page.items.flatMap((item) => listed(drive, item)), at: this.#clock.now() };
          url = page.next;
        }
      }
    }
    if (!found) throw toConnectorError(noFolder());
  }

  /** Returns the ids of the libraries: of the site, and of the OneDrive of the app's user. */
  async drives(signal: AbortSignal): Promise<string[]> {
    const site = text(await this.#get(new URL(`${GRAPH}/v1.0/sites/${this.#site}`), signal), 'id');
    if (site === undefined) throw toConnectorError(unexpected(this.subject));
    const ids: string[] = [];
    let url: URL | undefined = new URL(`${GRAPH}/v1.0/sites/${encodeURIComponent(site)}/drives?$select=id`);
    while (url) {
      const page: Page | undefined = await this.#page(url, signal);
      ids.push(...(page?.items ?? []).flatMap((drive) => text(drive, 'id') ?? []));
      url = page?.next;
    }
    if (this.#user !== undefined) {
      const own = new URL(`${GRAPH}/v1.0/users/${encodeURIComponent(this.#user)}/drive?$select=id`);
      ids.push(...[await this.#get(own, signal, true)].flatMap((drive) => text(drive, 'id') ?? []));
    }
    return ids.map(encodeURIComponent);
  }

  /** A response to the request for the content names a host with the file, which takes no token. */
  async open({ key }: Listed, offset: number, signal: AbortSignal): Promise<Response> {
    const [drive = '', id = ''] = key.split('/');
    const url = new URL(`${GRAPH}/v1.0/drives/${drive}/items/${id}/content`);
    const options = { signal, stream: true, timeoutMs: READ_TIMEOUT_MS };
    const response = await this.#client.send({ url }, { ...options, redirect: 'manual' });
    if (response.status === 200) return response;
    await response.body?.cancel();
    const location = response.headers.get('location') ?? '';
    if (response.status === 302 && URL.canParse(location)) {
      const target = new URL(location);
      if (target.protocol !== 'https:' || !DOWNLOADS.test(target.hostname))
        throw toConnectorError(unreachable('redirected', this.subject));
      const headers = { ...(offset > 0 && { range: `bytes=${offset}-` }) };
      const file = await this.#egress.fetch(target, { ...options, headers });
      if (file.status === 200 || file.status === 206) return file;
      await file.body?.cancel();
      if (file.status === 404) throw new ObjectError('gone');
      throw this.#client.problem(file);
    }
    if (response.status === 404) throw new ObjectError('gone');
    const problem = this.#client.problem(response, explain(response.status));
    if (response.status === 403) throw new ObjectError('denied', problem);
    throw problem;
  }

  /** @param optional whether something may be missing: the result is then `undefined` */
  async #get(url: URL, signal: AbortSignal, optional = false): Promise<unknown> {
    let status: number | undefined;
    const limits = { signal, timeoutMs: LIST_TIMEOUT_MS, maxBytes: MAX_LISTING };
    return this.#client
      .json({ url }, limits, (given) => {
        status = given;
        return explain(given);
      })
      .catch((error: unknown) => {
        if (optional && status === 404) return undefined;
        throw error;
      });
  }

  async #page(url: URL, signal: AbortSignal, optional = false): Promise<Page | undefined> {
    const body = await this.#get(url, signal, optional);
    if (body === undefined) return undefined;
    const items = at(body, 'value');
    const link = text(body, '@odata.nextLink');
    const next = link !== undefined && URL.canParse(link) ? new URL(link) : undefined;
    if (!Array.isArray(items) || (link !== undefined && next?.origin !== GRAPH))
      throw toConnectorError(unexpected(this.subject));
    return { items, next };
  }
}

function listed(drive: string, item: unknown): Listed[] {
  const [id, name] = [text(item, 'id'), text(item, 'name')];
  const size = at(item, 'size');
  const times = ['createdDateTime', 'lastModifiedDateTime'].map((field) => Date.parse(text(item, field) ?? ''));
  const time = Math.max(...times);
  const isFile = isRecord(at(item, 'file')) && typeof size === 'number' && !Number.isNaN(time);
  if (!isFile || id === undefined || name === undefined) return [];
  // The cTag changes with the content alone.
  const etag = text(item, 'cTag') ?? String(time);
  return [{ key: `${drive}/${encodeURIComponent(id)}/${name}`, etag, time, size }];
}

/** https://learn.microsoft.com/graph/api/site-getbypath */
function siteOf(address: string | undefined): string {
  if (address === undefined) return 'root';
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'https:') throw invalid('This is not the address of a site.', SITE);
  const path = url.pathname.replace(/\/+$/, '');
  return path === '' ? url.hostname : `${url.hostname}:${path}`;
}

function folderOf(path: string): string {
  const folder = path.replace(/^\/+|\/+$/g, '');
  if (folder === '.' || folder === '') return '';
  const encoded = pathOf(folder);
  if (encoded === undefined) throw invalid('This is not the path of a folder.', FOLDER);
  return `:${encoded}:`;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

const invalid = (message: string, field: string) => toConnectorError(failed('invalid_config', message, { at: field }));
const noFolder = (): Failure => failed('not_found', 'No library has this folder.', { at: FOLDER });

function explain(status: number): Failure | undefined {
  if (status === 404) return failed('not_found', 'There is no such site, or no such folder.', { at: [SITE, FOLDER] });
  if (status !== 403) return undefined;
  return failed('forbidden', 'The app may not read this site.', {
    hint: 'It needs the application permission Sites.Read.All or Sites.Selected of Microsoft Graph.',
    at: KEY,
  });
}
