import type { DrivenKeyboard } from './driven.js';

// https://www.w3.org/TR/webdriver2/#keyboard-actions
const codes: Record<string, string> = {
  Alt: '\uE00A',
  ArrowDown: '\uE015',
  ArrowLeft: '\uE012',
  ArrowRight: '\uE014',
  ArrowUp: '\uE013',
  Backspace: '\uE003',
  Control: '\uE009',
  Delete: '\uE017',
  End: '\uE010',
  Enter: '\uE007',
  Escape: '\uE00C',
  Home: '\uE011',
  Meta: '\uE03D',
  PageDown: '\uE00F',
  PageUp: '\uE00E',
  Shift: '\uE008',
  Space: ' ',
  Tab: '\uE004',
};

/** Returns the WebDriver key value of a DOM key name: `Enter`, `a`. */
export function keyCode(key: string): string {
  const code = codes[key] ?? key;
  if (Array.from(code).length !== 1) throw new Error(`unknown key ${key}`);
  return code;
}

/**
 * Presses a key with modifiers held down.
 * @example await pressKeys(page.keyboard, 'Control+v');
 */
export async function pressKeys(keyboard: DrivenKeyboard, combination: string): Promise<void> {
  const keys = combination.split('+');
  const modifiers = keys.slice(0, -1);
  for (const modifier of modifiers) await keyboard.down(modifier);
  try {
    await keyboard.press(keys.at(-1) ?? '');
  } finally {
    for (const modifier of modifiers.reverse()) await keyboard.up(modifier);
  }
}
