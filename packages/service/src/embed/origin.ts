/**
 * Returns whether a string is the origin of a web page exactly as a browser serializes it: scheme,
 * host and port only. Accepts `https`, and `http` on a loopback host. An accepted string is safe to
 * use in a header.
 */
export function isPageOrigin(text: string): boolean {
  if (text.length > 300 || !/^https?:\/\/[a-z0-9.\-_:[\]]+$/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.origin === text && (url.protocol === 'https:' || isLoopback(url.hostname));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || /^127(?:\.\d{1,3}){3}$/.test(host) || host === '[::1]';
}
