/** One line of progress, so that a long step is never a silent one. */
export const say = (text) => console.log(`\u203a ${text}`);

/** Ends the command with a sentence that says what is missing and what to do. */
export function fail(text) {
  console.error(`\u2717 ${text}`);
  process.exit(1);
}
