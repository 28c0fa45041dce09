/** The bus can't be used with these settings. The message says what to change. */
export class JetStreamSetupError extends Error {
  override readonly name = 'JetStreamSetupError';
}
