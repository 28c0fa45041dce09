/** A number a person may write. No exponents, no separators: what is shown is what is meant. */
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** The number a text plainly is, else undefined. */
export const readNumber = (text: string): number | undefined => (NUMBER.test(text.trim()) ? Number(text) : undefined);
