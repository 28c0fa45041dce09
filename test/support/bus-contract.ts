export { runBusContract, someBatch, take } from '../../packages/engine/src/testing/bus-contract.js';
