/** A problem in the catalog's sources: where it is, and what to do. */
export interface Problem {
  /** Path from the package root: `types/inputs/okta-systemlog.json`. */
  file: string;
  /** JSON Pointer inside the file; empty for the whole file. */
  pointer: string;
  message: string;
}

export const describeProblem = ({ file, pointer, message }: Problem): string =>
  pointer ? `${file}#${pointer}: ${message}` : `${file}: ${message}`;

/** Formats values for a message: `"a", "b" or "c"`. */
export const oneOf = (values: readonly unknown[]): string =>
  values.length < 2
    ? JSON.stringify(values[0])
    : `${values
        .slice(0, -1)
        .map((value) => JSON.stringify(value))
        .join(', ')} or ${JSON.stringify(values.at(-1))}`;
