import { ConnectorError, type Clock, type Egress } from '@connector-frame/engine/connector-api';
import type { Subject } from '../_shared/connection-test/failures.js';
import type { ObjectContent, ObjectStore } from '../_shared/objects/store.js';
import { WRITE_TIMEOUT_MS } from '../_shared/objects/store.js';
import { statusFailure, unexpected } from '../_shared/output/failures.js';
import { invalidConfig, send, type HttpResponse } from '../_shared/output/send.js';
import { text } from '../_shared/read.js';
import { fileNameOf } from './file-name.js';

export const subject: Subject = { product: 'HDFS', address: '/settings/endpoint' };

const API = '/webhdfs/v1';
const PRODUCT = 'HDFS';

/**
 * Writes files by WebHDFS. It has no credentials: the NameNode decides by the network, or as the user
 * that it takes unknown clients for.
 * https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html
 */
export class HdfsStore implements Pick<ObjectStore, 'check' | 'put'> {
  readonly #base: URL;
  readonly #root: string;
  readonly #prefix: string;
  readonly #egress: Egress;
  readonly #clock: Clock;

  /** @throws ConnectorError `invalid_config` */
  constructor(settings: Record<string, unknown>, egress: Egress, clock: Clock) {
    const endpoint = text(settings, 'endpoint') ?? '';
    if (!URL.canParse(endpoint)) throw invalidConfig('There is no NameNode to write to.');
    this.#base = new URL(endpoint);
    this.#root = (text(settings, 'root') ?? '/').replace(/\/+$/, '');
    this.#prefix = text(settings, 'prefix') ?? '';
    this.#egress = egress;
    this.#clock = clock;
    this.#urlOf(fileNameOf(this.#prefix, 'x', 0), 'CREATE');
  }

  async check(signal: AbortSignal): Promise<void> {
    const { status, text: body, headers } = await this.#send('GET', this.#urlOf('', 'GETFILESTATUS'), signal);
    // A folder that does not exist is created with the first file.
    if (status !== 200 && !(status === 404 && body.includes('RemoteException')))
      throw statusFailure({ status, headers }, PRODUCT, this.#clock.now());
    if (status === 200 && !body.includes('"FileStatus"')) throw unexpected(PRODUCT);
  }

  async put(key: string, { body }: ObjectContent, signal: AbortSignal): Promise<void> {
    const url = this.#urlOf(fileNameOf(this.#prefix, key, this.#clock.now()), 'CREATE');
    url.searchParams.set('overwrite', 'true');
    const asked = await this.#send('PUT', url, signal);
    if (asked.status !== 307) throw this.#problem(asked);
    const written = await this.#send('PUT', this.#dataNodeOf(asked, url), signal, body);
    if (written.status !== 201) throw this.#problem(written);
  }

  /**
   * Returns where the DataNode takes the content. The NameNode chooses it, so it is another host; the
   * egress guard decides whether records may go there. It must be the same file, and not without TLS.
   */
  #dataNodeOf({ headers }: HttpResponse, asked: URL): URL {
    const location = headers.get('location') ?? '';
    const target = URL.canParse(location) ? new URL(location) : undefined;
    const isSecure = target?.protocol === 'https:' || (target?.protocol === 'http:' && asked.protocol === 'http:');
    const isSame = target?.pathname === asked.pathname && target.searchParams.get('op')?.toUpperCase() === 'CREATE';
    if (!target || !isSecure || !isSame || target.username !== '' || target.password !== '')
      throw new ConnectorError(
        'redirected',
        'HDFS redirects to an address that is no DataNode, or that has no TLS.',
        'permanent',
      );
    return target;
  }

  #urlOf(name: string, operation: string): URL {
    const segments = `${this.#root}/${name}`.split('/').filter((segment) => segment !== '');
    if (segments.some((segment) => segment === '.' || segment === '..'))
      throw invalidConfig('The folder and the prefix cannot have the segments "." and "..".');
    const url = new URL(this.#base);
    url.pathname = `${API}/${segments.map(encodeURIComponent).join('/')}`;
    url.search = '';
    url.searchParams.set('op', operation);
    return url;
  }

  #send(method: string, url: URL, signal: AbortSignal, body?: Uint8Array): Promise<HttpResponse> {
    const headers = { accept: 'application/json', ...(body && { 'content-type': 'application/octet-stream' }) };
    return send(
      this.#egress,
      {
        url: url.href,
        method,
        headers,
        // Those of writes lead to another host, and are checked.
        ...(method !== 'GET' && { redirect: 'manual' as const }),
        product: PRODUCT,
        ...(body && { body, timeoutMs: WRITE_TIMEOUT_MS }),
      },
      signal,
    );
  }

  #problem({ status, headers }: HttpResponse): ConnectorError {
    if (status >= 200 && status <= 399) return unexpected(PRODUCT);
    // A NameNode in safe mode, or on standby.
    const isBusy = status === 403 && !headers.has('www-authenticate');
    if (isBusy)
      return new ConnectorError(
        'forbidden',
        'HDFS does not allow writing here, or the NameNode is in safe mode or on standby (HTTP 403).',
        'permanent',
      );
    return statusFailure({ status, headers }, PRODUCT, this.#clock.now());
  }
}
