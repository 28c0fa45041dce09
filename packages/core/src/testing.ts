/**
 * `@connector-frame/core/testing`: a form that is not there. It speaks the protocol, so that a host tests its own page
 * without a service: from Node (`serveFakeFrame`), by answering requests (`fakeFrameHtml`), or from within the page
 * (`driveFakeFrame`).
 */
export { driveFakeFrame, type FakeFrameDriver } from './testing/drive-fake-frame.js';
export { fakeFrameHtml } from './testing/fake-frame-html.js';
export type { FakeFrameOptions, FrameReply } from './testing/fake-frame-options.js';
export { serveFakeFrame, type FakeFrameServer, type FakeFrameServerOptions } from './testing/serve-fake-frame.js';
