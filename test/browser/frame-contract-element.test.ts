import { runFrameContract } from '../contract/run-frame-contract.js';
import { adapters } from '../contract/adapters.js';

runFrameContract('the element', adapters.element);
