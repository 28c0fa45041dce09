import { runFrameContract } from '../contract/run-frame-contract.js';
import { ways } from '../contract/ways.js';

runFrameContract('the function', ways.function);
