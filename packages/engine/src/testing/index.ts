/** For tests of connectors: a clock that is set by hand, a sink, and pipelines in memory. */
export * from './manual-clock.js';
export * from './pipeline-fixture.js';
export * from './random.js';
export * from './recording-sink.js';
export * from './run-context.js';
