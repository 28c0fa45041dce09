import factory from 'jq-wasm/dist/build/jq.js';
import { JqSystem } from './jq-system.mjs';

/** @import { JqResponse, JqJob, JqLimits, JqOutcome, JqThreadData } from './protocol.js' */
/** @import { Syscall } from './jq-system.mjs' */

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const STANDARD_OUTPUT = 1;

/**
 * One run of jq in a fresh memory that is discarded afterwards: a program can't affect the next
 * one. Records are passed one at a time, when jq reads more input, so that each output and error
 * can be attributed to the previous record.
 */
export class JqInstance {
  /** @type {JqOutcome[]} */
  #outcomes = [];
  #current = -1;
  #ended = false;
  #out = new Uint8Array(64 * 1024);
  #length = 0;
  #total = 0;
  #failed = false;
  /** @type {'jq_error' | 'jq_memory' | 'jq_output_too_large'} */
  #cause = 'jq_error';
  #stderr = '';

  /**
   * @param {JqJob} job
   * @param {JqThreadData} data
   */
  constructor(job, { module, progress, limits }) {
    this.job = job;
    this.module = module;
    this.progress = progress;
    /** @type {JqLimits} */
    this.limits = limits;
    this.deadline = performance.now() + job.sliceMs;
  }

  /** @returns {Promise<JqResponse>} */
  async run() {
    const system = new JqSystem({
      read: () => this.#next(),
      write: (file, bytes) => (file === STANDARD_OUTPUT ? this.#writeOutput(bytes) : this.#writeError(bytes)),
      mayGrow: (bytes) => {
        if (bytes > this.limits.memory) this.#cause = 'jq_memory';
        return bytes <= this.limits.memory;
      },
    });
    /** @type {{ callMain(words: string[]): number }} */
    const jq = await factory({
      /**
       * @param {{ a: Record<string, Syscall> }} imports
       * @param {(instance: WebAssembly.Instance) => void} receive
       */
      instantiateWasm: (imports, receive) => {
        const instance = new WebAssembly.Instance(this.module, { a: system.calls(imports.a) });
        system.memory = Object.values(instance.exports).find((each) => each instanceof WebAssembly.Memory);
        receive(instance);
        return instance.exports;
      },
    });
    try {
      // Without colors, one output per line, flushed immediately.
      jq.callMain(['-M', '-c', '--unbuffered', this.job.program]);
    } catch {
      // jq failed; the progress shows on which record.
    }
    if (this.#ended) return { outcomes: this.#outcomes };
    if (this.#current < 0) return { outcomes: [], invalid: this.#cause === 'jq_memory' ? 'memory' : this.#stderr };
    return { outcomes: [...this.#outcomes, this.#cause] };
  }

  /** Called when jq reads more input: it has finished the previous record. */
  #next() {
    if (this.#current >= 0 && !this.#ended) this.#finish();
    const next = this.#current + 1;
    const line = this.job.lines[next];
    const late = next > 0 && (performance.now() > this.deadline || this.#total > this.limits.sliceBytes);
    if (this.#ended || late || line === undefined) {
      this.#ended = true;
      return new Uint8Array();
    }
    this.#current = next;
    Atomics.store(this.progress, 0, next);
    return encoder.encode(`${line}\n`);
  }

  #finish() {
    this.#outcomes.push(this.#outcome());
    this.#total += this.#length;
    this.#length = 0;
    this.#failed = false;
  }

  /** @returns {JqOutcome} */
  #outcome() {
    if (this.#failed) return 'jq_error';
    if (this.#length === 0) return [];
    // Every output ends with a line break and contains no other.
    const outputs = decoder.decode(this.#out.subarray(0, this.#length - 1)).split('\n');
    if (outputs.length > this.limits.outputs) return 'jq_output_too_large';
    return outputs.every((output) => output.startsWith('{')) ? outputs : 'jq_not_an_object';
  }

  /** @param {Uint8Array} bytes */
  #writeOutput(bytes) {
    const length = this.#length + bytes.length;
    if (length > this.limits.outputBytes) {
      this.#cause = 'jq_output_too_large';
      throw new Error('Too much came out.');
    }
    if (length > this.#out.length) {
      const larger = new Uint8Array(Math.max(length, this.#out.length * 2));
      larger.set(this.#out.subarray(0, this.#length));
      this.#out = larger;
    }
    this.#out.set(bytes, this.#length);
    this.#length = length;
  }

  /** @param {Uint8Array} bytes */
  #writeError(bytes) {
    this.#failed = true;
    // Errors about a record may contain its data; only keep errors about the program.
    if (this.#current < 0 && this.#stderr.length < 2_000) this.#stderr += decoder.decode(bytes);
  }
}
