/** Where the form and its service are, for elements that are not told. */
export interface DefaultAddresses {
  /** Address of the form, with its path. */
  frameOrigin?: string;
  /** Base address of the service's API. */
  apiBase?: string;
}

let addresses: DefaultAddresses = {};

/** Replaces the default addresses; before the first element is mounted, or that one has the old ones. */
export function setDefaultAddresses(given: DefaultAddresses): void {
  addresses = given;
}

/** The addresses given last; none are missing ones of core's own. */
export const defaultAddresses = (): DefaultAddresses => addresses;
