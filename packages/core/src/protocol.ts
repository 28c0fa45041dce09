/**
 * The protocol between a host page and its frame. This page is its reference.
 *
 * The frame's address is `<frameOrigin with its path>/?parentOrigin=<origin of the host page>`. No address ever holds
 * a token. Messages travel by `postMessage`, always to the exact origin of the other side, never to `*`. Each is a
 * plain object with `source: 'monad-embed'` (it filters noise, it earns no trust) and a `type`:
 *
 * | From  | `type`            | Fields                                    | When |
 * | ----- | ----------------- | ----------------------------------------- | ---- |
 * | frame | `ready`           | `version`, `reportsLoad?`, `answersLeave?` | as soon as it listens; again after a reload |
 * | host  | `init`            | see {@link InitMessage}                   | answer to each `ready`, once there is a session |
 * | frame | `loaded`          | `title?`                                  | the form is shown; only if `ready` said `reportsLoad` |
 * | frame | `resize`          | `height` in CSS pixels                    | its content's height changed |
 * | frame | `saved`           | `connector: { id, name? }`                | the connector was saved |
 * | frame | `error`           | `message`, `code`                         | a load, test or save failed |
 * | frame | `cancel`          | none                                      | the person canceled |
 * | frame | `session_request` | none                                      | the token was refused or is about to expire |
 * | host  | `session`         | `sessionToken`, `expiresAt?`              | answer to `session_request`; also unasked, when the host has a fresh one |
 * | host  | `command`         | `command: 'save' \| 'test' \| 'cancel'`   | a button of the host's page stands for one of the form |
 * | host  | `leave`           | none                                      | the host wants to replace or remove the form |
 * | frame | `left`            | none                                      | answer to `leave`: the form may go |
 *
 * What a receiver owes:
 * 1. It checks the window (`event.source`), the exact origin, the tag and the shape. What fails leaves without an
 *    answer. {@link isFrameMessage} checks what a frame sent. {@link parseHostMessage} builds what a host page sent anew
 *    from own, known, bounded fields, as all of it may be made up.
 * 2. It ignores types it does not know, and fields. New types and new optional fields keep version 1.
 * 3. A frame answers the first valid `init` only. A frame that does not speak the version of an `init` answers
 *    `error` with code `protocol_mismatch`.
 * 4. A frame sends nothing anywhere when `apiBase` is not one of its own service; it answers `error` with code
 *    `api_base_mismatch`.
 * 5. A host clamps `height` to 0..20,000 and ignores what is not finite.
 * 6. An option the host page did not give is absent from `init`, never `{}` or `''`.
 * 7. A frame takes a `command` as the press of its own button: it validates, moves focus to what is to be fixed, and does
 *    nothing while it is busy, still loading, saved, or has no such button. What came of it is told as ever (`saved`,
 *    `error`, `cancel`); a command has no answer of its own.
 * 8. A frame in which nothing would be lost answers `leave` with `left` at once: still loading, failed, nothing typed,
 *    saved. Otherwise it asks the person, inside the form, whether to discard what was typed. `left` follows a yes, or a
 *    save that succeeds while the question is open; a no is not answered. It says in `ready` that it does
 *    (`answersLeave`); without that, a host does not wait. A host may send `leave` again.
 * 9. `command` and `leave` came after the first forms of version 1. A frame that does not know them ignores them.
 */
export * from './protocol/messages.js';
export { isFrameMessage } from './protocol/is-frame-message.js';
export { sendToFrame } from './protocol/send-to-frame.js';
export { parseHostMessage } from './protocol/parse-host-message.js';
