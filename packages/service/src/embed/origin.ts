/**
 * Whether a text is the origin of a web page exactly as a browser writes it: scheme, host, port, nothing else.
 * `https`, or `http` on the machine itself. What passes can stand in a header.
 */
export function isPageOrigin(text: string): boolean {
  if (text.length > 300 || !/^https?:\/\/[a-z0-9.\-_:[\]]+$/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.origin === text && (url.protocol === 'https:' || isLoopback(url.hostname));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || /^127(?:\.\d{1,3}){3}$/.test(host) || host === '[::1]';
}
