import { html, type Html } from '../html.js';
import { presets, schemes, type Theme } from '../theme.js';
import type { PageQuery } from '../page-query.js';
import type { Tenant } from '../sign-in.js';

/** Methods of embedding a form, one page each. */
export const embeddings = { script: 'Script', html: 'HTML', react: 'React', vue: 'Vue' } as const;
export type Embedding = keyof typeof embeddings;

/** An embedding method, or the contact sheet of all forms. */
export type PageName = Embedding | 'gallery';

export function isPage(text: string): text is PageName {
  return text === 'gallery' || Object.hasOwn(embeddings, text);
}

/**
 * Renders the demo's bar: embedding method and theme. Uses plain links and forms, so no page needs
 * a script for it.
 */
export function bar(page: PageName, theme: Theme, query: PageQuery): Html {
  return html`<a class="skip" href="#main">Skip to content</a>
    <header class="bar">
      <nav class="segments" aria-label="Ways to embed the form">
        ${Object.entries(embeddings).map(
          ([id, name]) =>
            html`<a class="segment" href="/${id}/?kind=${query.kind}" ${id === page && html` aria-current="page"`}
              >${name}</a
            >`,
        )}
      </nav>
      <nav class="segments" aria-label="All forms">
        <a class="segment" href="/gallery/" ${page === 'gallery' && html` aria-current="page"`}>Every form</a>
      </nav>
      <form class="themes" id="theme" method="post" action="/demo/theme">
        <div class="segments" role="group" aria-label="Theme">
          ${presets.map((one) => choice('preset', one, theme.preset))}
        </div>
        <div class="segments" role="group" aria-label="Appearance">
          ${schemes.map((one) => choice('scheme', one, theme.scheme))}
        </div>
      </form>
      <span id="theme-sample" aria-hidden="true"></span>
    </header>`;
}

function choice(name: 'preset' | 'scheme', value: string, chosen: string): Html {
  return html`<button class="segment" name="${name}" value="${value}" aria-pressed="${String(value === chosen)}">
    ${name === 'preset' && html`<span class="swatch" data-theme="${value}"></span>`}${capital(value)}
  </button>`;
}

/** Renders the product's sidebar: settings and workspace. */
export function side(query: PageQuery, tenant: Tenant | undefined, tenants: readonly Tenant[]): Html {
  const current = query.typeId === '' ? 'page' : 'true';
  const link = (kind: PageQuery['kind'], label: string, path: string) =>
    html`<li>
      <a href="?kind=${kind}" data-kind="${kind}" ${kind === query.kind && html` aria-current="${current}"`}>
        <svg viewBox="0 0 20 20" aria-hidden="true"><path d="${path}" /></svg>${label}
      </a>
    </li>`;
  return html`<section class="side" aria-label="Northwind Security">
    <p class="brand">
      <svg class="logo" viewBox="0 0 28 28" aria-hidden="true">
        <rect width="28" height="28" rx="7" />
        <path d="M14 5.5 19.5 20 14 17.2 8.5 20z" />
      </svg>
      <span>Northwind <small>Security</small></span>
    </p>
    ${
      tenant &&
      html`<nav class="nav" aria-label="Settings">
          <ul>
            ${link('input', 'Data sources', 'M10 3v9m0 0 3.5-3.5M10 12 6.5 8.5M4 15.5h12')}
            ${link('output', 'Destinations', 'M10 12V3m0 0 3.5 3.5M10 3 6.5 6.5M4 15.5h12')}
          </ul>
        </nav>
        <div class="workspace">
          <p class="caption">Workspace: <b>${tenant.name}</b></p>
          <form method="post" action="/demo/sign-in">
            ${tenants
              .filter(({ id }) => id !== tenant.id)
              .map(
                ({ id, name }) => html`<button class="quiet" name="tenantId" value="${id}">Switch to ${name}</button>`,
              )}
          </form>
          <form method="post" action="/demo/sign-out"><button class="quiet">Sign out</button></form>
        </div>`
    }
  </section>`;
}

/** Renders the sign-in card. It asks for no password. */
export function signInCard(tenants: readonly Tenant[]): Html {
  return html`<section class="gate" aria-labelledby="sign-in-title">
    <h1 id="sign-in-title">Sign in to Northwind</h1>
    <p class="lead">This demo has two customers. Each sees only its own connections.</p>
    <form class="gate-choices" method="post" action="/demo/sign-in">
      ${tenants.map(
        ({ id, name }) =>
          html`<button class="secondary" name="tenantId" value="${id}">
            <span class="mark" aria-hidden="true">${name.slice(0, 1)}</span><span>Continue as ${name}</span>
          </button>`,
      )}
    </form>
  </section>`;
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
