/**
 * The second inline script of the frame's page: puts the host's colors on it as soon as `init` has come, so that the skeleton has
 * them before the form's own script has arrived.
 */
import { applyAppearance } from './appearance/apply-appearance.js';

const boot = globalThis.connectorFrameBoot;

if (boot) {
  boot.look = boot.start.then((start) =>
    applyAppearance('init' in start ? start.init.appearance : undefined, (message) =>
      console.warn(`[connector-frame] ${message}`),
    ),
  );
}
