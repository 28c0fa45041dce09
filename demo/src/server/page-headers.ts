/**
 * The headers of a page that embeds the form. The form itself needs `frame-src`, the drop-in needs `script-src`, a page that shows vendors' marks needs
 * `img-src`, and Vue wants the name of its own Trusted Types policy; the rest is what a careful product sends anyway.
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
    'cross-origin-opener-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  };
}
