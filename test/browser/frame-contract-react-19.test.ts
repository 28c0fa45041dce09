import { runFrameContract } from '../contract/run-frame-contract.js';
import { adapters } from '../contract/adapters.js';

runFrameContract('React 19', adapters['React 19']);
