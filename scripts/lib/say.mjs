/** Prints one line of progress, so that no long step is silent. */
export const say = (text) => console.log(`\u203a ${text}`);

/** Prints what is missing and what to do, and exits with 1. */
export function fail(text) {
  console.error(`\u2717 ${text}`);
  process.exit(1);
}
