/** Codes this package and our form use. Stable: branch on them. The package's README tells each one's cause and cure. */
export type ConnectorFrameErrorCode =
  | 'invalid_options'
  | 'frame_blocked'
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
  // A later form may know more. This keeps the list open without losing its completion.
  | (string & {});

/** Every failure of a connector frame. `code` is stable; `message` is a sentence for people and may change. */
export class ConnectorFrameError extends Error {
  declare readonly code: ConnectorFrameErrorCode;

  constructor(code: ConnectorFrameErrorCode, message: string) {
    super(message);
    this.name = 'ConnectorFrameError';
    this.code = code;
  }
}
