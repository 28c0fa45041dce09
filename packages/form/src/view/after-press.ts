/** Milliseconds, longer than a tap takes from `pointerup` to `click`. */
const SETTLE_MS = 60;

let pressed = false;
const waiting: (() => void)[] = [];

function settle(): void {
  setTimeout(() => {
    pressed = false;
    for (const run of waiting.splice(0)) run();
  }, SETTLE_MS);
}

addEventListener('pointerdown', () => (pressed = true), true);
addEventListener('pointerup', settle, true);
addEventListener('pointercancel', settle, true);

/**
 * Runs `run` immediately, or after the current press has ended. Pressing a button blurs the focused
 * field, and an error that appears there moves the button away from the pointer: its click would be
 * lost.
 */
export function afterPress(run: () => void): void {
  if (pressed) waiting.push(run);
  else run();
}
