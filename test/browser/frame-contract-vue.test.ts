import { runFrameContract } from '../contract/run-frame-contract.js';
import { adapters } from '../contract/adapters.js';

runFrameContract('Vue', adapters.Vue);
