import { runFrameContract } from '../contract/run-frame-contract.js';
import { ways } from '../contract/ways.js';

runFrameContract('React 18', ways['React 18']);
