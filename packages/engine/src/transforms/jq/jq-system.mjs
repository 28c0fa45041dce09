/** @typedef {(...given: number[]) => number} Syscall */
/**
 * What a run of jq meets outside.
 * @typedef {object} Outside
 * @property {() => Uint8Array} read what comes next; nothing: that was all
 * @property {(file: number, bytes: Uint8Array) => void} write the bytes are its memory: they are to be copied
 * @property {(bytes: number) => boolean} mayGrow
 */

const encoder = new TextEncoder();
const ENVIRONMENT = encoder.encode('LANG=C\0');
const noSuchFile = () => -44;

/**
 * The system calls of jq, so that there is nothing behind them but its records: no file, no environment. The package's
 * own copy all of the input for each byte of it.
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
   * The package's system calls, which it names by letters, with ours in place of those that matter.
   * @param {Record<string, Syscall>} theirs
   */
  calls(theirs) {
    const ours = this.#ours(Object.values(theirs).find(({ name }) => name === '_emscripten_resize_heap'));
    const names = new Set(Object.values(theirs).map(({ name }) => name));
    for (const name of Object.keys(ours)) if (!names.has(name)) throw new Error(`jq has no ${name} any more.`);
    return Object.fromEntries(Object.entries(theirs).map(([key, call]) => [key, ours[call.name] ?? call]));
  }

  /**
   * @param {Syscall | undefined} grow
   * @returns {Record<string, Syscall>}
   */
  #ours(grow) {
    return {
      _fd_read: (_file, parts = 0, count = 0, read = 0) => this.#read(parts, count, read),
      _fd_write: (file = 0, parts = 0, count = 0, written = 0) => this.#write(file, parts, count, written),
      // jq takes it for granted that there is something in it.
      _environ_sizes_get: (count = 0, bytes = 0) => this.#answer([count, 1], [bytes, ENVIRONMENT.length]),
      _environ_get: (list = 0, text = 0) => {
        this.#bytes.set(ENVIRONMENT, text);
        return this.#answer([list, text]);
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
   * Puts values into the memory; 0, as a call answers that went well.
   * @param {readonly [address: number, value: number][]} words
   */
  #answer(...words) {
    const view = new DataView(this.#buffer);
    for (const [address, value] of words) view.setUint32(address, value, true);
    return 0;
  }

  /**
   * The places in the memory that one call reads or writes.
   * @param {number} parts
   * @param {number} count
   * @returns {Uint8Array[]}
   */
  #places(parts, count) {
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
    for (const place of this.#places(parts, count)) {
      const piece = this.#rest.subarray(0, place.length);
      place.set(piece);
      this.#rest = this.#rest.subarray(piece.length);
      total += piece.length;
    }
    return this.#answer([read, total]);
  }

  /**
   * @param {number} file
   * @param {number} parts
   * @param {number} count
   * @param {number} written
   */
  #write(file, parts, count, written) {
    let total = 0;
    for (const place of this.#places(parts, count)) {
      if (place.length > 0) this.outside.write(file, place);
      total += place.length;
    }
    return this.#answer([written, total]);
  }
}
