export { runCoordinatorContract } from '../../packages/engine/src/testing/coordinator-contract.js';
export { ManualClock } from '../../packages/engine/src/testing/manual-clock.js';
