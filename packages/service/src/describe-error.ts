/**
 * Describes an error for the log by name, code and stack frames. The message is omitted, because
 * the message of a database error can quote a row.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const { stack = '', message } = error;
  // The stack starts with the message, which may contain lines that look like frames.
  const end = stack.lastIndexOf(message) + message.length;
  const frames = (stack.includes(message) ? stack.slice(end) : '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8);
  return {
    name: error.name,
    ...code,
    stack: frames.map((line) => line.trim()),
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  };
}
