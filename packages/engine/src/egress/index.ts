export { createEgress, type EgressOptions } from './create-egress.js';
export type { Egress, EgressInit, EgressTarget } from './egress.js';
export { EgressError, type EgressReason } from './error.js';
export { isSendable } from './request.js';
export type { Lookup } from './dial.js';
export { secure } from './secure.js';
export { withDeadline } from './deadline.js';
