import { runFrameContract } from '../contract/run-frame-contract.js';
import { ways } from '../contract/ways.js';

runFrameContract('Vue', ways.Vue);
