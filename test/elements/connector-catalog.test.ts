import { expect, fixture, html, waitUntil } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import type { CatalogType } from '@connector-frame/core/connect';
import type { ConnectorCatalogElement } from '@connector-frame/element/catalog';
import '@connector-frame/element/define-catalog';
import { partOf } from './frame-pages.js';
import { nextEvent } from './next-event.js';

const product = (type_id: string, name: string, category: string): CatalogType => ({
  type_id,
  name,
  description: `Events of ${name}.`,
  category,
  icon: null,
});

const types = [
  product('okta-systemlog', 'Okta System Log', 'Identity'),
  product('auth0-logs', 'Auth0', 'Identity'),
  product('github-audit-logs', 'GitHub Audit Log', 'Code'),
  product('splunk', 'Splunk', 'SIEM'),
];

const picker = () =>
  fixture<ConnectorCatalogElement>(html`<connector-catalog .types=${types} selected="splunk"></connector-catalog>`);

const names = (element: Element): (string | null)[] =>
  Array.from(element.shadowRoot?.querySelectorAll('[part="name"]') ?? [], ({ textContent }) => textContent);

const focused = (element: Element): Element | null | undefined => element.shadowRoot?.activeElement;

describe('<connector-catalog>', () => {
  it('shows the types it is given, and marks the selected one', async () => {
    const element = await picker();
    expect(element.matches(':state(ready)')).to.equal(true);
    expect(names(element)).to.have.members(types.map(({ name }) => name));
    expect(element.shadowRoot?.querySelector('[aria-current="true"]')?.textContent).to.contain('Splunk');
    await expect(element).to.be.accessible();
  });

  it('takes the types from an attribute', async () => {
    const element = await fixture<ConnectorCatalogElement>(
      html`<connector-catalog types=${JSON.stringify(types.slice(0, 1))} kind="output"></connector-catalog>`,
    );
    expect(element.kind).to.equal('output');
    expect(names(element)).to.deep.equal(['Okta System Log']);
  });

  it('searches while the user types, and Enter selects the first type', async () => {
    const element = await picker();
    element.focus();
    await sendKeys({ type: 'githb' });
    await waitUntil(() => names(element).length === 1);
    expect(names(element)).to.deep.equal(['GitHub Audit Log']);
    const selected = nextEvent(element, 'select');
    await sendKeys({ press: 'Enter' });
    expect((await selected).connectorType).to.deep.equal(types[2]);
  });

  it('moves through the list with the arrow keys, and letters return to the search', async () => {
    const element = await picker();
    element.focus();
    await sendKeys({ press: 'ArrowDown' });
    expect(focused(element)?.getAttribute('part')).to.equal('item');
    const first = focused(element);
    await sendKeys({ press: 'End' });
    expect(focused(element)).not.to.equal(first);
    await sendKeys({ type: 'ok' });
    expect(focused(element)).to.have.property('value', 'ok');
  });

  it('narrows the list by category', async () => {
    const element = await picker();
    const category = partOf(element, 'category');
    if (!(category instanceof HTMLSelectElement)) throw new Error('There is no choice of a category');
    category.value = 'Identity';
    category.dispatchEvent(new Event('change'));
    expect(names(element)).to.have.members(['Okta System Log', 'Auth0']);
    expect(partOf(element, 'count')?.textContent).to.contain('2');
  });

  it('shows types that cannot run only if the page asks for them, with the reason', async () => {
    const stopped = { ...product('docker-logs', 'Docker Logs', 'Cloud'), runtime: false };
    const all: CatalogType[] = [
      { ...product('okta-users', 'Okta Users', 'Identity'), runtime: true },
      { ...stopped, unavailable: { reason: 'agent' } },
      { ...stopped, type_id: 'later', name: 'Later' },
    ];
    const element = await fixture<ConnectorCatalogElement>(
      html`<connector-catalog types=${JSON.stringify(all)}></connector-catalog>`,
    );
    expect(element.showUnavailable).to.equal(false);
    expect(names(element)).to.deep.equal(['Okta Users']);
    expect(partOf(element, 'count')?.textContent).to.equal('1 product');
    element.setAttribute('show-unavailable', '');
    await element.updateComplete;
    expect(names(element)).to.deep.equal(['Okta Users', 'Docker Logs', 'Later']);
    const notes = element.shadowRoot?.querySelectorAll('[part="saved-only"]') ?? [];
    expect(Array.from(notes, ({ textContent }) => textContent)).to.deep.equal([
      'No data can flow: it needs an agent on the host.',
      'Can be saved, but no data flows yet.',
    ]);
    await expect(element).to.be.accessible();
    element.setAttribute('show-unavailable', 'false');
    await element.updateComplete;
    expect(names(element)).to.deep.equal(['Okta Users']);
  });

  it('gives types without an icon two letters, and vendors different tints', async () => {
    const element = await fixture<ConnectorCatalogElement>(
      html`<connector-catalog
        .types=${[
          product('a', 'CrowdStrike Devices', ''),
          product('b', 'CrowdStrike Users', ''),
          product('c', 'Redis', ''),
          { ...product('d', 'Élan Wächter', ''), icon: '/no-such-icon.svg' },
        ]}
      ></connector-catalog>`,
    );
    const tiles = () =>
      Array.from(element.shadowRoot?.querySelectorAll<HTMLElement>('.letters') ?? [], (tile) => ({
        letters: tile.textContent,
        color: getComputedStyle(tile).backgroundColor,
      }));
    // The icon that can't be loaded is replaced as well.
    await waitUntil(() => tiles().length === 4);
    expect(tiles().map(({ letters }) => letters)).to.deep.equal(['CD', 'CU', 'RE', 'ÉW']);
    const [devices, users, redis, elan] = tiles().map(({ color }) => color);
    expect(devices).to.equal(users);
    expect(new Set([devices, redis, elan]).size).to.equal(3);
    await expect(element).to.be.accessible();
  });

  it('says that a search found nothing', async () => {
    const element = await picker();
    element.focus();
    await sendKeys({ type: 'qqqqqqqq' });
    await waitUntil(() => element.matches(':state(empty)'));
    expect(partOf(element, 'empty')).not.to.equal(null);
    await expect(element).to.be.accessible();
  });

  it('fires error and offers to try again if the host has no catalog', async () => {
    const element = await fixture<ConnectorCatalogElement>(html`<connector-catalog></connector-catalog>`);
    expect(element.matches(':state(loading)')).to.equal(true);
    const failed = nextEvent(element, 'error');
    element.hostUrl = '/no-such-host';
    const { error } = await failed;
    expect(error.code).to.equal('load_failed');
    expect(partOf(element, 'error')?.getAttribute('role')).to.equal('alert');
    await expect(element).to.be.accessible();
    const again = nextEvent(element, 'error');
    partOf(element, 'retry')?.click();
    expect((await again).error.code).to.equal('load_failed');
  });
});
