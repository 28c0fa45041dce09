/**
 * The protocol between a host page and the form in its frame. This comment is its reference.
 *
 * The URL of the frame is `<frameOrigin with its path>/?parentOrigin=<origin of the host page>`.
 * URLs never contain a token. Messages are sent with `postMessage`, to the exact origin of the
 * other side, never to `*`. Each is a plain object with `source: 'monad-embed'`, which identifies
 * the protocol but is not a proof of trust, and a `type`:
 *
 * | From  | `type`            | Fields                                     | Sent |
 * | ----- | ----------------- | ------------------------------------------ | ---- |
 * | frame | `ready`           | `version`, `reportsLoad?`, `answersLeave?` | when the form starts listening, also after a reload |
 * | host  | `init`            | see {@link InitMessage}                    | in reply to each `ready`, once there is a session |
 * | frame | `loaded`          | `title?`                                   | when the form is shown, if `ready` had `reportsLoad` |
 * | frame | `resize`          | `height` in CSS pixels                     | when the height of the content changes |
 * | frame | `saved`           | `connector: { id, name? }`                 | when the connector was saved |
 * | frame | `error`           | `message`, `code?`                         | when loading, testing or saving failed |
 * | frame | `cancel`          | none                                       | when the user canceled |
 * | frame | `session_request` | none                                       | when the token was rejected or expires soon |
 * | frame | `dirty`           | `dirty: boolean`                           | when the first value changes, and when everything is saved or discarded |
 * | host  | `session`         | `sessionToken`, `expiresAt?`               | in reply to `session_request`, or at any time with a newer token |
 * | host  | `command`         | `command: 'save' \| 'test' \| 'cancel'`    | to trigger a button of the form |
 * | host  | `leave`           | none                                       | before the host replaces or removes the form |
 * | frame | `left`            | none                                       | in reply to `leave`: the form can be removed |
 *
 * Rules:
 *
 * 1. A receiver checks the window (`event.source`), the exact origin, the tag and the fields, and
 *    ignores messages that fail. {@link isFrameMessage} checks messages from the frame.
 *    {@link parseHostMessage} copies known, validated, bounded fields of messages from the host page.
 * 2. A receiver ignores unknown types and fields. New types and optional fields keep version 1.
 * 3. A frame accepts only the first valid `init`. If it doesn't support the version, it replies
 *    `error` with code `protocol_mismatch`.
 * 4. If `apiBase` doesn't belong to the frame's own service, the frame sends no request and replies
 *    `error` with code `api_base_mismatch`.
 * 5. A host limits `height` to 0..20,000 and ignores values that are not finite.
 * 6. An option that the host page does not set is absent from `init`, never `{}` or `''`.
 * 7. A `command` acts like a click on the form's own button: the form validates and focuses the
 *    first invalid field. It has no effect while the form is loading or busy, after a save, or if
 *    there is no such button. It has no reply of its own; the result is reported as usual (`saved`,
 *    `error`, `cancel`).
 * 8. If no input would be lost, a frame replies `left` at once: while loading, after a failure or a
 *    save, or without edits. Otherwise it asks the user whether to discard the input, and sends
 *    `left` if the user agrees or a save succeeds meanwhile. If the user declines, it sends
 *    nothing. A frame announces this in `ready` with `answersLeave`; otherwise a host does not
 *    wait. A host can send `leave` again.
 * 9. While the form is `dirty`, the host page asks before it unloads (`beforeunload`). The form can't:
 *    the sandbox of its frame suppresses the question. An undone change sends nothing, so that a
 *    host can't learn that a secret was emptied.
 * 10. Strings of a frame have at most 65,536 characters. `null` is the same as an absent field. A
 *    form of this project always sends `code`; without one, the host page receives `frame_error`.
 * 11. `command`, `leave` and `dirty` were added after the first release of version 1. Older frames
 *    ignore `command` and `leave`, and older hosts ignore `dirty`.
 */
export * from './protocol/messages.js';
// In this order, the modules compress best in the form's script.
export { sendToFrame } from './protocol/send-to-frame.js';
export { parseHostMessage } from './protocol/parse-host-message.js';
export { isFrameMessage } from './protocol/is-frame-message.js';
