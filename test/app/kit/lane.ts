import { WebSocket } from 'ws';

/** Which end a message goes to. */
export type Toward = 'page' | 'relay';

interface Parcel {
  due: number;
  go: () => void;
}

/** One direction of one connection: keeps the order through delays and a shut door, as TCP does. */
export class Lane {
  readonly #to: WebSocket;
  readonly #waiting: Parcel[] = [];
  #shut = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(to: WebSocket) {
    this.#to = to;
  }

  /** Sends after `delayMs`, behind everything that waits. */
  push(data: Buffer, binary: boolean, delayMs: number): void {
    this.#add(delayMs, () => {
      if (this.#to.readyState === WebSocket.OPEN) this.#to.send(data, { binary });
    });
  }

  /** Does the last thing of this direction, behind everything that waits. */
  end(close: () => void): void {
    this.#add(0, close);
  }

  shut(): void {
    this.#shut += 1;
  }

  open(): void {
    this.#shut -= 1;
    this.#pump();
  }

  #add(delayMs: number, go: () => void): void {
    this.#waiting.push({ due: Date.now() + delayMs, go });
    this.#pump();
  }

  #pump(): void {
    for (let head = this.#waiting[0]; head && this.#shut === 0; head = this.#waiting[0]) {
      const wait = head.due - Date.now();
      if (wait > 0) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#pump(), wait);
        return;
      }
      this.#waiting.shift();
      head.go();
    }
  }
}
