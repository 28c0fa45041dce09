/**
 * Error codes of this package and the form. They are stable, so you can branch on them. The
 * package's README lists the cause and remedy of each.
 */
export type ConnectorFrameErrorCode =
  | 'invalid_options'
  | 'frame_blocked'
  | 'request_blocked'
  | 'frame_unreachable'
  | 'frame_timeout'
  | 'protocol_mismatch'
  | 'api_base_mismatch'
  | 'session_expired'
  | 'session_failed'
  | 'load_failed'
  | 'type_not_found'
  | 'connector_not_found'
  | 'unauthorized'
  | 'test_failed'
  | 'save_failed'
  | 'stylesheet_failed'
  | 'frame_covered'
  | 'destination_not_seen'
  | 'command_while_typing'
  | 'offline'
  | 'frame_error'
  // Newer forms can have further codes. Keeps completion for the known ones.
  | (string & {});

/** A failure of a connector frame. `code` is stable; `message` is for display and can change. */
export class ConnectorFrameError extends Error {
  declare readonly code: ConnectorFrameErrorCode;

  constructor(code: ConnectorFrameErrorCode, message: string) {
    super(message);
    this.name = 'ConnectorFrameError';
    this.code = code;
  }
}
