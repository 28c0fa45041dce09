/** Addresses of the form and its service for elements without their own. */
export interface DefaultAddresses {
  /** URL of the form, with its path. */
  frameOrigin?: string;
  /** Base URL of the service's API. */
  apiBase?: string;
}

let addresses: DefaultAddresses = {};

/** Replaces the default addresses. Elements that are already mounted keep theirs. */
export function setDefaultAddresses(given: DefaultAddresses): void {
  addresses = given;
}

/** Returns the default addresses. Core's own defaults apply to missing ones. */
export const defaultAddresses = (): DefaultAddresses => addresses;
