import { startProcesses } from './across-processes.js';
import { setStarter } from './starter.js';

// For the tests that the project `several-processes` of vitest.config.ts runs once more.
setStarter(startProcesses);
