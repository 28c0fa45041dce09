import { describe } from 'vitest';
import { runFrameContract } from '../contract/run-frame-contract.js';
import { adapters } from '../contract/adapters.js';
import { long } from '../support/long.js';

// The component has the same code for React 18 and 19.
describe.runIf(long)('with React 18', () => runFrameContract('React 18', adapters['React 18']));
