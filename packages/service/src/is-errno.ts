/**
 * Returns whether an error has one of these system error codes, such as `ENOENT` or `EEXIST`.
 * https://nodejs.org/docs/latest-v20.x/api/errors.html#common-system-errors
 */
export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
