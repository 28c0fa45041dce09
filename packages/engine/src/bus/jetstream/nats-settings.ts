/** Where NATS is, and how to sign in. */
export interface NatsSettings {
  /**
   * Addresses of servers, separated by commas: `nats://user:password@host:4222`, `tls://host:4222`,
   * `nats://token@host:4222`. The credentials of the first address that has some are used for all.
   */
  url: string;
  /** File with a JWT and its seed, or with the seed of an NKey. */
  credsFile?: string | undefined;
  nkeyFile?: string | undefined;
  /** Files in PEM: authorities to trust, and a client certificate with its key. */
  caFile?: string | undefined;
  certFile?: string | undefined;
  keyFile?: string | undefined;
  /** Name of the connection, shown by the server. Default `connector-frame`. */
  name?: string | undefined;
}

/** Returns whether a text is a list of addresses that `connectNats` accepts. */
export function isNatsUrl(text: string): boolean {
  return addressesIn(text).every((address) => {
    if (!URL.canParse(address)) return false;
    const { protocol, hostname, pathname, search } = new URL(address);
    return /^(?:nats|tls):$/.test(protocol) && hostname !== '' && /^\/?$/.test(pathname) && search === '';
  });
}

/** Returns the addresses in a list. */
export const addressesIn = (text: string): string[] => text.split(',').map((part) => part.trim());
