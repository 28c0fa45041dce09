/** An export or import can't be done. The message says why, and what to do. */
export class TransferError extends Error {
  override readonly name = 'TransferError';
}
