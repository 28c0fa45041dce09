import type { CatalogType, ConfiguredConnector } from '@connector-frame/core/connect';
import { fill } from './fill.js';
import { escape, html, Html } from './html.js';
import { themeOf, type Theme } from './theme.js';
import { readPageQuery, type PageQuery } from './page-query.js';
import type { Tenant } from './sign-in.js';
import { aside } from './views/aside.js';
import { gallery } from './views/gallery.js';
import { formHead, lists, type Listed } from './views/lists.js';
import { bar, signInCard, side, type PageName, type Embedding } from './views/shell.js';
import type { SourceFile } from './views/source-panel.js';

/** Dependencies of the pages. */
export interface PageParts {
  /** URL of the service, as browsers reach it. The drop-in is loaded from there. */
  serviceUrl: string;
  tenants: readonly Tenant[];
  tenantOf: (request: Request) => Tenant | undefined;
  /** Handles the host's routes. */
  host: (request: Request) => Promise<Response>;
}

/** A built page: its template, and the files shown as its source. */
export interface BuiltPage {
  name: PageName;
  document: string;
  files: readonly SourceFile[];
}

/**
 * Renders a page for the signed-in tenant and the query of the URL.
 * @param rowScript URL of the script of `<pipeline-row>`
 */
export async function renderPage(
  request: Request,
  page: BuiltPage,
  parts: PageParts,
  rowScript: string,
): Promise<string> {
  const query = readPageQuery(new URL(request.url));
  const theme = themeOf(request);
  const tenant = parts.tenantOf(request);
  const files = query.typeId !== '' && tenant ? fillTemplates(page, query, tenant, parts) : page.files;
  if (page.name === 'gallery')
    return renderDocument(
      page,
      theme,
      'Every form · Northwind Security',
      html`${bar(page.name, theme, query)}${tenant ? gallery(tenant) : html`<main class="gallery" id="main">${signInCard(parts.tenants)}</main>`}`,
    );
  const main = tenant
    ? await product(request, page.name, query, tenant, files, parts, rowScript)
    : signInCard(parts.tenants);
  const body = html`${bar(page.name, theme, query)}
    <div class="product-page" ${tenant && html` data-signed-in`}>
      ${side(query, tenant, parts.tenants)}
      <main class="main" id="main" tabindex="-1">${main}</main>
      ${tenant && aside(page.name, files)}
    </div>`;
  return renderDocument(page, theme, tenant ? 'Connect your data · Northwind Security' : 'Northwind Security', body);
}

function renderDocument(page: BuiltPage, theme: Theme, title: string, body: Html): string {
  return page.document
    .replace('{{theme}}', `${theme.preset} ${theme.scheme}`)
    .replace('{{title}}', escape(title))
    .replace('{{body}}', () => body.text);
}

/**
 * File with the embed of the server-rendered pages. The file that is shown is the file that is
 * sent.
 */
const embedFile = 'connector.html';

function fillTemplates(page: BuiltPage, query: PageQuery, tenant: Tenant, { serviceUrl }: PageParts): SourceFile[] {
  const { kind, typeId, connectorId } = query;
  const values = { service: serviceUrl, kind, 'type-id': typeId, 'existing-id': connectorId, 'tenant-id': tenant.id };
  return page.files.map((file) => (file.name === embedFile ? { ...file, code: fill(file.code, values) } : file));
}

async function product(
  request: Request,
  embedding: Embedding,
  query: PageQuery,
  tenant: Tenant,
  files: readonly SourceFile[],
  parts: PageParts,
  rowScript: string,
): Promise<Html> {
  if (embedding === 'react' || embedding === 'vue') return html`<div id="root" data-tenant-id="${tenant.id}"></div>`;
  const embed = files.find(({ name }) => name === embedFile);
  if (query.typeId !== '') return html`${formHead(query)}${new Html(embed?.code ?? '')}`;
  const load = <Item>(path: string) => list<Item>(request, path, parts);
  const [types, connectors] = await Promise.all([
    load<CatalogType>(`/api/catalog?kind=${query.kind}`),
    load<ConfiguredConnector>(`/api/connectors?kind=${query.kind}&tenantId=${encodeURIComponent(tenant.id)}`),
  ]);
  return lists(query, { types, connectors }, { tenantId: tenant.id, script: rowScript });
}

/** Calls a route of the host with the browser's cookie, so that the same authorization applies. */
async function list<Item>(request: Request, path: string, { host }: PageParts): Promise<Listed<Item>> {
  const headers = { cookie: request.headers.get('cookie') ?? '' };
  const response = await host(new Request(new URL(path, request.url), { headers }));
  const body: Item[] & { message?: string } = await response.json();
  return response.ok ? { items: body } : { failure: body.message ?? 'The list could not be loaded.' };
}
