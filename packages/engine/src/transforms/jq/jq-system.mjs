/** @typedef {(...given: number[]) => number} Syscall */
/**
 * The host functions of a jq run.
 * @typedef {object} Outside
 * @property {() => Uint8Array} read returns the next input; empty at the end
 * @property {(file: number, bytes: Uint8Array) => void} write must copy `bytes`, a view of its
 *   memory
 * @property {(bytes: number) => boolean} mayGrow whether the memory may grow to `bytes`
 */

const encoder = new TextEncoder();
const ENVIRONMENT = encoder.encode('LANG=C\0');
const noSuchFile = () => -44;

/**
 * Implements the system calls of jq, so that it can only access its records: no files, no
 * environment. The package's own implementation copies the whole input for each byte it reads.
 */
export class JqSystem {
  /** @type {WebAssembly.Memory | undefined} */
  memory;
  /** @type {Uint8Array} */
  #rest = new Uint8Array();

  /** @param {Outside} outside */
  constructor(outside) {
    this.outside = outside;
  }

  /**
   * Returns the package's system calls, keyed by its minified names, with the relevant ones
   * replaced.
   * @param {Record<string, Syscall>} original
   */
  calls(original) {
    const replacements = this.#replacements(
      Object.values(original).find(({ name }) => name === '_emscripten_resize_heap'),
    );
    const names = new Set(Object.values(original).map(({ name }) => name));
    for (const name of Object.keys(replacements)) if (!names.has(name)) throw new Error(`jq has no ${name} any more.`);
    return Object.fromEntries(Object.entries(original).map(([key, call]) => [key, replacements[call.name] ?? call]));
  }

  /**
   * @param {Syscall | undefined} grow
   * @returns {Record<string, Syscall>}
   */
  #replacements(grow) {
    return {
      _fd_read: (_file, parts = 0, count = 0, read = 0) => this.#read(parts, count, read),
      _fd_write: (file = 0, parts = 0, count = 0, written = 0) => this.#write(file, parts, count, written),
      // jq requires a non-empty environment.
      _environ_sizes_get: (count = 0, bytes = 0) => this.#writeWords([count, 1], [bytes, ENVIRONMENT.length]),
      _environ_get: (list = 0, text = 0) => {
        this.#bytes.set(ENVIRONMENT, text);
        return this.#writeWords([list, text]);
      },
      ___syscall_openat: noSuchFile,
      ___syscall_stat64: noSuchFile,
      ___syscall_lstat64: noSuchFile,
      ___syscall_newfstatat: noSuchFile,
      ___syscall_readlinkat: noSuchFile,
      ___syscall_getcwd: noSuchFile,
      _emscripten_resize_heap: (bytes = 0) => (grow && this.outside.mayGrow(bytes >>> 0) ? grow(bytes) : 0),
    };
  }

  get #buffer() {
    return this.memory?.buffer ?? new ArrayBuffer(0);
  }

  get #bytes() {
    return new Uint8Array(this.#buffer);
  }

  /**
   * Writes values to the memory and returns 0, the result of a successful system call.
   * @param {readonly [address: number, value: number][]} words
   */
  #writeWords(...words) {
    const view = new DataView(this.#buffer);
    for (const [address, value] of words) view.setUint32(address, value, true);
    return 0;
  }

  /**
   * Returns the memory ranges that one call reads or writes.
   * @param {number} parts
   * @param {number} count
   * @returns {Uint8Array[]}
   */
  #buffers(parts, count) {
    const bytes = this.#bytes;
    const view = new DataView(this.#buffer, parts, count * 8);
    return Array.from({ length: count }, (_, n) => {
      const address = view.getUint32(n * 8, true);
      return bytes.subarray(address, address + view.getUint32(n * 8 + 4, true));
    });
  }

  /**
   * @param {number} parts
   * @param {number} count
   * @param {number} read
   */
  #read(parts, count, read) {
    if (this.#rest.length === 0) this.#rest = this.outside.read();
    let total = 0;
    for (const place of this.#buffers(parts, count)) {
      const piece = this.#rest.subarray(0, place.length);
      place.set(piece);
      this.#rest = this.#rest.subarray(piece.length);
      total += piece.length;
    }
    return this.#writeWords([read, total]);
  }

  /**
   * @param {number} file
   * @param {number} parts
   * @param {number} count
   * @param {number} written
   */
  #write(file, parts, count, written) {
    let total = 0;
    for (const place of this.#buffers(parts, count)) {
      if (place.length > 0) this.outside.write(file, place);
      total += place.length;
    }
    return this.#writeWords([written, total]);
  }
}
