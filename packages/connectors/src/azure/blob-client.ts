import type { Clock, Egress, TesterConfig } from '@connector-frame/engine/connector-api';
import { ApiClient, createApiClient, type ApiOptions, type ApiRequest } from '../_shared/api/api-client.js';
import { toConnectorError, type ApiError } from '../_shared/api/api-error.js';
import { statusFailure, type Subject } from '../_shared/connection-test/failures.js';
import { failed, missing } from '../_shared/connection-test/outcome.js';
import { text } from '../_shared/read.js';
import { failureOfCode } from './error-codes.js';
import { entraAuthentication, withTenant } from './entra.js';
import { sharedKeyAuthentication } from './shared-key.js';

/** https://learn.microsoft.com/rest/api/storageservices/versioning-for-the-azure-storage-services */
const VERSION = '2023-11-03';

/** Where the fields of a type are. */
export interface BlobFields {
  /** URL of the blob service, or the name of the account. */
  account: '/settings/account_url' | '/settings/storage_account_url' | '/settings/account_name';
  /** A setting with the name of the container. */
  container: 'container' | 'container_name' | { name: string };
  auth: 'shared_key' | 'entra';
}

export interface BlobClientOptions {
  fields: BlobFields;
  config: TesterConfig;
  egress: Egress;
  clock: Clock;
}

/** A client for one container of a storage account. */
export class BlobClient {
  readonly subject: Subject;
  /** URL of the container, without a trailing slash. */
  readonly #container: string;
  readonly #client: ApiClient;
  readonly #clock: Clock;
  readonly #fields: BlobFields;

  /** @throws ConnectorError `invalid_config`, permanent */
  constructor({ fields, config, egress, clock }: BlobClientOptions) {
    const { account, container, auth } = fields;
    this.subject = {
      product: 'Azure Storage',
      address: account,
      credential: auth === 'entra' ? '/secrets/client_secret' : '/secrets/account_key',
    };
    this.#fields = fields;
    this.#clock = clock;
    const service = serviceUrl(config, account);
    const name = typeof container === 'string' ? text(config.settings, container) : container.name;
    if (name === undefined) throw toConnectorError(missing(this.#containerField, 'Enter a container.'));
    this.#container = `${service}/${encodeURIComponent(name)}`;
    const base = new URL(service);
    this.#client =
      auth === 'entra'
        ? createApiClient(entraAuthentication('https://storage.azure.com/.default'), withTenant(config), {
            subject: this.subject,
            egress,
            clock,
            base,
          })
        : new ApiClient({
            subject: this.subject,
            egress,
            clock,
            authentication: sharedKeyAuthentication(config, base),
          });
  }

  /**
   * Sends one request and resolves with any response.
   * @param path begins with `/` or `?`
   * @throws ConnectorError if there was no response, or signing in failed
   */
  send(path: string, { headers, ...request }: Omit<ApiRequest, 'url'>, options: ApiOptions): Promise<Response> {
    return this.#client.send(
      {
        ...request,
        url: new URL(this.#container + path),
        headers: { ...headers, 'x-ms-version': VERSION, 'x-ms-date': new Date(this.#clock.now()).toUTCString() },
      },
      options,
    );
  }

  /**
   * Converts an unsuccessful response to an error.
   * @param role the role that the app may lack
   */
  problem(response: Response, role: string): ApiError {
    const code = codeOf(response);
    if (code === 'ServerBusy') return toConnectorError(statusFailure(429, this.subject));
    const field = this.#fields.auth === 'entra' ? '/secrets/client_id' : '/secrets/account_key';
    if (code === 'ContainerNotFound')
      return toConnectorError(failed('not_found', 'There is no container by this name.', { at: this.#containerField }));
    const known = failureOfCode(code, { field, account: this.#fields.account, role });
    return this.#client.problem(response, known);
  }

  get #containerField(): string {
    const { container, account } = this.#fields;
    return typeof container === 'string' ? `/settings/${container}` : account;
  }
}

/** Returns the error code of a response. Its body may repeat the request. */
export const codeOf = (response: Response): string | undefined => response.headers.get('x-ms-error-code') ?? undefined;

function serviceUrl({ settings }: TesterConfig, field: BlobFields['account']): string {
  const value = text(settings, field.slice('/settings/'.length));
  if (value === undefined) throw toConnectorError(missing(field, 'Enter the storage account.'));
  const url = field === '/settings/account_name' ? `https://${value}.blob.core.windows.net` : value;
  const isHost = field !== '/settings/account_name' || /^[a-z0-9]+$/.test(value);
  if (!isHost || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw toConnectorError(failed('invalid_config', 'This is not a valid address.', { at: field }));
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}
