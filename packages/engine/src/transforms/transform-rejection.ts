/**
 * An operation can't be applied to a record: the record goes to the dead letters with this reason.
 */
export class TransformRejection extends Error {
  readonly code: 'not_convertible' | 'not_an_object' | 'key_taken' | 'too_large';
  override readonly name = 'TransformRejection';
  /** @param message written by us; may contain the key, never the value */
  constructor(code: 'not_convertible' | 'not_an_object' | 'key_taken' | 'too_large', message: string) {
    super(message);
    this.code = code;
  }
}
