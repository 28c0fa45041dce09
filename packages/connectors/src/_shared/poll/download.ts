/** Redirects to files on other hosts, such as signed URLs of object storage. */
const REDIRECTS = [301, 302, 303, 307, 308];

/** Returns the target of a redirect, or `undefined` if the response is none. */
export function redirectTarget({ status, headers }: Response, from: URL): URL | undefined {
  const location = REDIRECTS.includes(status) ? headers.get('location') : null;
  return location !== null && URL.canParse(location, from) ? new URL(location, from) : undefined;
}

/** Whether a file may be read from a URL: its host is one of `hosts`, or a subdomain of one. */
export function isDownload({ protocol, hostname, username, password }: URL, hosts: readonly string[]): boolean {
  const isListed = hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
  return protocol === 'https:' && username === '' && password === '' && isListed;
}
