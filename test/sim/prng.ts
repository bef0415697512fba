import type { Bytes } from '../../src/core/ids';

/** Seeded integers and ratios, no floats: the same seed gives the same run on every machine. */
export class Prng {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(readonly seed: string) {
    let hash = 0x811c9dc5;
    const next = (salt: number): number => {
      for (let at = 0; at < seed.length; at++) {
        hash = Math.imul(hash ^ seed.charCodeAt(at) ^ salt, 0x01000193) >>> 0;
      }
      return hash;
    };
    this.#a = next(1);
    this.#b = next(2);
    this.#c = next(3);
    for (let at = 0; at < 12; at++) this.u32();
  }

  /** A stream of its own for one purpose: what one purpose draws moves no other. */
  fork(purpose: string): Prng {
    return new Prng(`${this.seed}/${purpose}`);
  }

  /** 32 bits (small fast counting generator). */
  u32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** 0 .. below-1. */
  below(below: number): number {
    return this.u32() % below;
  }

  /** from .. to, both possible. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  /** True so many times in a thousand. */
  perMille(chance: number): boolean {
    return this.below(1_000) < chance;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new TypeError('nothing to pick from');
    return choice;
  }

  bytes(length: number): Bytes {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; at++) bytes[at] = this.u32() & 0xff;
    return bytes;
  }
}
