import { startWorld, type World } from '../support/world.js';
import type { DrivenBrowser, EngineName } from '../support/engines/driven.js';
import { launchEngine } from '../support/engines/engines.js';
import { eventually } from '../support/engines/eventually.js';
import { serveHostPage, type HostPage, type PageKind } from './host-page.js';
import { tabOf, type Tab } from './tab.js';
import { bundleAdapter, type Adapter } from './adapters.js';

/**
 * A service, a host for it on another site, and the browsers. Started once for all behaviors of an
 * adapter.
 */
export interface Fixture {
  world: World;
  host: HostPage;
  /** Opens a host page in a new tab. */
  open(engine: EngineName, kind?: PageKind): Promise<Tab>;
  /** Returns the ids and names of the connectors stored for the team. */
  storedConnectors(): Promise<{ id: string; name: string }[]>;
  /** Closes the tabs that the last test opened. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export async function startFixture(adapter: Adapter, engines: EngineName[]): Promise<Fixture> {
  let world: World | undefined;
  const host = await serveHostPage({
    code: await bundleAdapter(adapter),
    trustedTypes: adapter.trustedTypes,
    service: () => {
      if (!world) throw new Error('the service has not started');
      return { url: world.service.url, session: world.session, team: world.team };
    },
  });
  const limits = ['ADDRESS', 'KEY', 'ORGANIZATION', 'SESSION', 'TEST_TYPE', 'TEST_ORGANIZATION'].map((name) => [
    `RATE_LIMIT_${name}`,
    'off',
  ]);
  const [started, ...launched] = await Promise.all([
    startWorld({ ALLOWED_PARENT_ORIGINS: host.origin, ...Object.fromEntries(limits) }),
    ...engines.map(async (name) => [name, await launchEngine(name)] as const),
  ]);
  world = started;
  const browsers = new Map<EngineName, DrivenBrowser>(launched);
  const { service, team, session, call } = started;
  const tabs: Tab[] = [];
  const clear = async (): Promise<void> => {
    await Promise.all(tabs.splice(0).map(({ page }) => page.close()));
  };
  const settings = async () => ({
    kind: 'input',
    typeId: 'okta-systemlog',
    organizationId: team,
    sessionToken: await session(),
    frameOrigin: `${service.url}/embed`,
    apiBase: service.url,
  });
  return {
    world: started,
    host,
    clear,
    async open(engine, kind = 'plain') {
      const page = await browsers.get(engine)?.newPage();
      if (!page) throw new Error(`${engine} was not launched`);
      const tab = tabOf(page, settings);
      tabs.push(tab);
      await page.goto(`${host.origin}/${kind}`);
      await eventually('the page', () => page.evaluate(() => 'contract' in globalThis || undefined));
      return tab;
    },
    async storedConnectors() {
      const { body } = await call('GET', `/v1/${team}/inputs?limit=1000`);
      return body['inputs'] as { id: string; name: string }[];
    },
    async close() {
      await clear();
      await Promise.all([...browsers.values()].map((browser) => browser.close()));
      await host.close();
      await started.close();
    },
  };
}
