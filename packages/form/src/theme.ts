/**
 * The second inline script of the frame's page. Applies the host's colors as soon as `init`
 * arrives, so that the skeleton has them before the form's script has loaded.
 */
import { applyAppearance } from './appearance/apply-appearance.js';

const boot = globalThis.connectorFrameBoot;

if (boot) {
  boot.theme = boot.start.then((start) =>
    applyAppearance('init' in start ? start.init.appearance : undefined, (message) =>
      console.warn(`[connector-frame] ${message}`),
    ),
  );
}
