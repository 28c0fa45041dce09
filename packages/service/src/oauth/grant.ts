/** The tokens of a connected account. They are the value of a secret, as JSON. */
export interface Grant {
  accessToken: string;
  /** Absent: the vendor gave none, and the account has to be connected again when the token expires. */
  refreshToken?: string;
  /** Milliseconds since the epoch. Absent: the vendor did not say, or the token does not expire. */
  expiresAt?: number;
}

export const sealable = (grant: Grant): string => JSON.stringify(grant);

/** @param value the value of a secret whose row has a `consent` */
export function grantIn(value: unknown): Grant {
  const grant: Grant = JSON.parse(String(value));
  return grant;
}

/** A token is refreshed this many milliseconds before it expires. */
const MARGIN_MS = 60_000;

export const isFresh = ({ expiresAt }: Grant, now: number): boolean =>
  expiresAt === undefined || expiresAt - MARGIN_MS > now;
