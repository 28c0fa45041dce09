import { runFrameContract } from '../contract/run-frame-contract.js';
import { adapters } from '../contract/adapters.js';

runFrameContract('React 18', adapters['React 18']);
