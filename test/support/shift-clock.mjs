// Shifts the clock of a Node process: `node --import test/support/shift-clock.mjs ...`. The file
// named by CLOCK_SHIFT_FILE contains milliseconds, and is read at startup and on SIGUSR2.
import { readFileSync } from 'node:fs';

const RealDate = Date;
const readShift = () => Number(readFileSync(process.env.CLOCK_SHIFT_FILE, 'utf8'));
let shift = readShift();
process.on('SIGUSR2', () => {
  shift = readShift();
});

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shift;
  }
};
