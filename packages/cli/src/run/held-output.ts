/** Output that is held back, because a later byte may make it a part of a value. Positions count from the first byte of the output. */

export const MARKER = "<concealed by item-vault>";

/** Bytes to replace: the first byte, and the byte after the last. */
interface Range {
  start: number;
  end: number;
}

export const isLineBreak = (byte: number | undefined): boolean => byte === 10 || byte === 13;

export class HeldOutput {
  /** The position of the first byte. */
  #origin = 0;
  #bytes = Buffer.alloc(0);
  /** The byte before the first one. */
  #before: number | undefined;
  readonly #ranges: Range[] = [];
  /** The end of the last range of which the marker is written. */
  #marked = -1;

  get end(): number {
    return this.#origin + this.#bytes.length;
  }

  append(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
  }

  /**
   * Hides bytes, as far as they are held. The end is at most one byte before the end of an earlier call. A word ends when the next byte is
   * read, which may have ended another value.
   */
  hide(start: number, end: number): void {
    const range = { start: Math.max(start, this.#origin), end };
    while (this.#ranges.length > 0 && this.#ranges.at(-1)!.end >= range.start) {
      const last = this.#ranges.pop()!;
      range.start = Math.min(range.start, last.start);
      range.end = Math.max(range.end, last.end);
    }
    this.#ranges.push(range);
  }

  /** Returns the byte before a position of the held output. */
  byteBefore(position: number): number | undefined {
    return position > this.#origin ? this.#bytes[position - this.#origin - 1] : this.#before;
  }

  hasBefore(end: number, bytes: Uint8Array): boolean {
    const start = end - bytes.length - this.#origin;
    return start >= 0 && this.#bytes.subarray(start, end - this.#origin).equals(bytes);
  }

  /** Returns where the last characters before a position begin. Line breaks do not count as characters. */
  startOf(characters: number, end: number): number {
    let at = end - this.#origin;
    for (let left = characters; left > 0 && at > 0;) if (!isLineBreak(this.#bytes[--at])) left--;
    return this.#origin + at;
  }

  /** Removes and returns the output up to a position, with a marker for each range. */
  release(until: number): Buffer {
    const parts: Uint8Array[] = [];
    let at = this.#origin;
    while (at < until) {
      const range = this.#ranges[0];
      const plain = Math.min(range?.start ?? until, until);
      if (at < plain) parts.push(this.#bytes.subarray(at - this.#origin, plain - this.#origin));
      if (!range || range.start >= until) break;
      if (range.start !== this.#marked) parts.push(Buffer.from(MARKER));
      at = Math.min(range.end, until);
      this.#marked = at;
      if (range.end > until) range.start = until;
      else this.#ranges.shift();
    }
    this.#before = this.byteBefore(until);
    this.#bytes = this.#bytes.subarray(until - this.#origin);
    this.#origin = until;
    return Buffer.concat(parts);
  }
}
