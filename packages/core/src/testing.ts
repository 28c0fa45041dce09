/**
 * `@connector-frame/core/testing`: a fake form for tests of a host page without a service. It
 * implements the protocol. `serveFakeFrame` serves it from Node, `fakeFrameHtml` returns its HTML,
 * and `driveFakeFrame` controls it from the page.
 */
export { driveFakeFrame, type FakeFrameDriver } from './testing/drive-fake-frame.js';
export { fakeFrameHtml } from './testing/fake-frame-html.js';
export type { FakeFrameOptions, FrameReply } from './testing/fake-frame-options.js';
export { serveFakeFrame, type FakeFrameServer, type FakeFrameServerOptions } from './testing/serve-fake-frame.js';
