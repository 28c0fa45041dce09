import { z } from 'zod';

/**
 * An e-mail address in lower case: ASCII without quotes, comments and line breaks, so that it is one
 * recipient in every header.
 */
export const Email = z
  .string()
  .max(254)
  .transform((text) => text.trim().toLowerCase())
  .refine(
    (text) =>
      /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(
        text,
      ),
    'Must be an e-mail address: ana@example.com.',
  );

/** Returns an address in lower case, or `undefined` if the text is none. */
export function readEmail(text: unknown): string | undefined {
  const { data } = Email.safeParse(text);
  return data;
}

/** Returns the domain of an address. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1);
