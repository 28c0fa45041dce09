import type { CatalogType, ConfiguredConnector } from '@connector-frame/core/connect';
import { fill } from './fill.js';
import { escape, html, Html } from './html.js';
import { lookOf, type Look } from './look.js';
import { placeOf, type PagePlace } from './place.js';
import type { Tenant } from './sign-in.js';
import { aside } from './views/aside.js';
import { gallery } from './views/gallery.js';
import { formHead, lists, type Listed } from './views/lists.js';
import { bar, gate, side, type PageName, type Way } from './views/shell.js';
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
  way: PageName;
  document: string;
  files: readonly SourceFile[];
}

/**
 * Renders a page for the signed-in tenant and the place in the URL.
 * @param rowScript URL of the script of `<pipeline-row>`
 */
export async function renderPage(
  request: Request,
  page: BuiltPage,
  parts: PageParts,
  rowScript: string,
): Promise<string> {
  const place = placeOf(new URL(request.url));
  const look = lookOf(request);
  const tenant = parts.tenantOf(request);
  const files = place.typeId !== '' && tenant ? filled(page, place, tenant, parts) : page.files;
  if (page.way === 'gallery')
    return finished(
      page,
      look,
      'Every form · Northwind Security',
      html`${bar(page.way, look, place)}${tenant ? gallery(tenant) : html`<main class="gallery" id="main">${gate(parts.tenants)}</main>`}`,
    );
  const main = tenant ? await product(request, page.way, place, tenant, files, parts, rowScript) : gate(parts.tenants);
  const body = html`${bar(page.way, look, place)}
    <div class="product-page" ${tenant && html` data-signed-in`}>
      ${side(place, tenant, parts.tenants)}
      <main class="main" id="main" tabindex="-1">${main}</main>
      ${tenant && aside(page.way, files)}
    </div>`;
  return finished(page, look, tenant ? 'Connect your data · Northwind Security' : 'Northwind Security', body);
}

function finished(page: BuiltPage, look: Look, title: string, body: Html): string {
  return page.document
    .replace('{{look}}', `${look.preset} ${look.scheme}`)
    .replace('{{title}}', escape(title))
    .replace('{{body}}', () => body.text);
}

/**
 * File with the embed of the server-rendered pages. The file that is shown is the file that is
 * sent.
 */
const embedFile = 'connector.html';

function filled(page: BuiltPage, place: PagePlace, tenant: Tenant, { serviceUrl }: PageParts): SourceFile[] {
  const { kind, typeId, connectorId } = place;
  const values = { service: serviceUrl, kind, 'type-id': typeId, 'existing-id': connectorId, 'tenant-id': tenant.id };
  return page.files.map((file) => (file.name === embedFile ? { ...file, code: fill(file.code, values) } : file));
}

async function product(
  request: Request,
  way: Way,
  place: PagePlace,
  tenant: Tenant,
  files: readonly SourceFile[],
  parts: PageParts,
  rowScript: string,
): Promise<Html> {
  if (way === 'react' || way === 'vue') return html`<div id="root" data-tenant-id="${tenant.id}"></div>`;
  const embed = files.find(({ name }) => name === embedFile);
  if (place.typeId !== '') return html`${formHead(place)}${new Html(embed?.code ?? '')}`;
  const ask = <Item>(path: string) => list<Item>(request, path, parts);
  const [types, connectors] = await Promise.all([
    ask<CatalogType>(`/api/catalog?kind=${place.kind}`),
    ask<ConfiguredConnector>(`/api/connectors?kind=${place.kind}&tenantId=${encodeURIComponent(tenant.id)}`),
  ]);
  return lists(place, { types, connectors }, { tenantId: tenant.id, script: rowScript });
}

/** Calls a route of the host with the browser's cookie, so that the same authorization applies. */
async function list<Item>(request: Request, path: string, { host }: PageParts): Promise<Listed<Item>> {
  const headers = { cookie: request.headers.get('cookie') ?? '' };
  const response = await host(new Request(new URL(path, request.url), { headers }));
  const body: Item[] & { message?: string } = await response.json();
  return response.ok ? { items: body } : { failure: body.message ?? 'The list can’t be had just now.' };
}
