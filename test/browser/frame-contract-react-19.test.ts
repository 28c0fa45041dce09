import { runFrameContract } from '../contract/run-frame-contract.js';
import { ways } from '../contract/ways.js';

runFrameContract('React 19', ways['React 19']);
