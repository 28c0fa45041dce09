/** Whether the operating system says one of these: `ENOENT`, `EEXIST`. https://nodejs.org/docs/latest-v20.x/api/errors.html#common-system-errors */
export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
