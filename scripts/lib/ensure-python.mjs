import { execFileSync } from 'node:child_process';
import { ensureProgram } from './ensure-program.mjs';

/** Whether there is a Python that can create environments; the tools of the tests need 3.11. */
function canCreate() {
  const script = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';
  try {
    execFileSync('python3', ['-c', script], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Ensures that the long run can install and run the Python tools of test/openapi-client/python. */
export const ensurePython = () =>
  ensureProgram({
    name: 'Python',
    find: canCreate,
    packages: ['python3-venv'],
    purpose: 'the generated Python client and Schemathesis',
    advice: 'Python 3.11 or later is needed.',
  });
