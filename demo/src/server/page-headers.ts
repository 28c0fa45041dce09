/**
 * Returns the headers of a page that embeds the form. The form requires `frame-src`, the drop-in
 * `script-src`, vendor icons `img-src`, and Vue the name of its Trusted Types policy. The other
 * headers and directives are general hardening.
 * @param service origin of the service
 */
export function pageHeaders(service: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${service}`,
    "style-src 'self'",
    `img-src 'self' ${service} data:`,
    "connect-src 'self'",
    `frame-src ${service}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types vue',
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    // `same-origin` would cut off the windows in which users connect accounts.
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'x-content-type-options': 'nosniff',
  };
}
