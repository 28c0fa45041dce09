import type { ConnectorFrameError } from '@connector-frame/core/connect';

/** Something failed. Branch on `error.code`. */
export class ConnectorErrorEvent extends Event {
  /** `code` is stable, `message` is for display. */
  readonly error: ConnectorFrameError;
  /** The same as `error`. */
  readonly detail: ConnectorFrameError;
  /** The same as `error.message`. */
  readonly message: string;

  constructor(error: ConnectorFrameError) {
    super('error');
    this.error = error;
    this.detail = error;
    this.message = error.message;
  }
}
