/** Longer than a tap takes from the finger's lift to its click. */
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
 * Runs at once, or after the press that is under way. A press on a button takes the focus from a field, and an error that appears
 * there moves the button away from under the pointer: its click would be lost.
 */
export function afterPress(run: () => void): void {
  if (pressed) waiting.push(run);
  else run();
}
