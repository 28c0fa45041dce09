/** Every text in it, however deep. */
export function secretsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsOf) : [];
}

/** As in the service's canary test: what a secret might look like where it should not be. */
export function encodings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    JSON.stringify(secret).slice(1, -1),
  ];
}
