/** Origins that may receive a token: https, or the local machine. */
const TRUSTED = /^https:|[/.](localhost|127\.0\.0\.1|\[::1])(:|$)/;

/**
 * Returns the URL of the frame for the option `frameOrigin`, or `undefined` if it is not a URL of a
 * trusted origin. The host page's own origin is not allowed: there, the page could read the form.
 */
export function frameUrl(frameOrigin: string): URL | undefined {
  // In a `srcdoc` document, `location.origin` is another one.
  // oxlint-disable-next-line typescript/no-useless-default-assignment -- happy-dom has no `origin`
  const { origin = location.origin } = self;
  const url = attempt(() => new URL(frameOrigin.replace(/\/*$/, '/?parentOrigin=' + origin)));
  return url && TRUSTED.test(url.origin) && url.origin !== origin ? url : undefined;
}

/** Calls a function. Returns `undefined` if it throws. */
export function attempt<Value>(run: () => Value): Value | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
