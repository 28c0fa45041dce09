import { existsSync } from 'node:fs';
import { launchChromium } from './chromium.js';
import type { DrivenBrowser, EngineName } from './driven.js';
import { launchFirefox } from './firefox.js';
import { launchWebKit } from './webkit.js';

export interface Engine {
  name: EngineName;
  /** Why this machine can't run the engine; undefined if it can. */
  missing: string | undefined;
}

const installed = (paths: string[]): string | undefined => paths.find((path) => existsSync(path));
const firefox = process.env['FIREFOX_PATH'] ?? installed(['/usr/bin/firefox-esr', '/usr/bin/firefox']);
const webkit =
  process.env['WEBKIT_DRIVER_PATH'] ??
  // WebKit also requires an X server: scripts/lib/ensure-webkit.mjs.
  (installed(['/usr/bin/Xvfb']) && installed(['/usr/bin/WebKitWebDriver']));

/**
 * The engines. `npm test` requires Chromium and installs Firefox if it can; the long run also
 * installs WebKit.
 */
export const engines: Engine[] = [
  { name: 'Chromium', missing: undefined },
  { name: 'Firefox', missing: firefox === undefined ? 'Firefox is not installed' : undefined },
  { name: 'WebKit', missing: webkit === undefined ? 'WebKitGTK is not installed' : undefined },
];

/** Launches an engine with the site isolation of a normal browser. The caller closes it. */
export async function launchEngine(name: EngineName): Promise<DrivenBrowser> {
  if (name === 'Chromium') return launchChromium();
  if (name === 'Firefox' && firefox !== undefined) return launchFirefox(firefox);
  if (name === 'WebKit' && webkit !== undefined) return launchWebKit(webkit);
  throw new Error(`No ${name}: run \`npm run test:long\`, which finds or installs it.`);
}
