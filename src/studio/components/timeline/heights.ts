// Heights of the rows in a long list, estimated until measured. Sums and searches take O(log n).

export class Heights {
  #heights: number[] = [];
  /** A Fenwick tree: sums of heights over ranges that double in length. */
  #sums: number[] = [0];

  get count(): number {
    return this.#heights.length;
  }

  get total(): number {
    return this.offsetOf(this.count);
  }

  push(height: number): void {
    this.#heights.push(height);
    const index = this.#heights.length;
    const range = index & -index;
    // The partial sums that the new entry needs exist already.
    let sum = height;
    for (let step = 1; step < range; step *= 2) sum += this.#sums[index - step]!;
    this.#sums[index] = sum;
  }

  pop(): void {
    this.#sums.pop();
    this.#heights.pop();
  }

  heightOf(index: number): number {
    return this.#heights[index] ?? 0;
  }

  set(index: number, height: number): void {
    const change = height - this.#heights[index]!;
    if (change === 0) return;
    this.#heights[index] = height;
    for (let at = index + 1; at < this.#sums.length; at += at & -at) this.#sums[at]! += change;
  }

  /** Returns the offset of the upper edge of a row. */
  offsetOf(index: number): number {
    let sum = 0;
    for (let at = Math.min(index, this.count); at > 0; at -= at & -at) sum += this.#sums[at]!;
    return sum;
  }

  /** The row at this offset; the last one for any offset below it. */
  indexAt(offset: number): number {
    let at = 0;
    let left = offset;
    for (let step = 2 ** Math.floor(Math.log2(Math.max(1, this.count))); step >= 1; step /= 2) {
      const next = at + step;
      if (next <= this.count && this.#sums[next]! <= left) {
        at = next;
        left -= this.#sums[next]!;
      }
    }
    return Math.max(0, Math.min(at, this.count - 1));
  }
}
