import { describe, expect, test, vi } from 'vitest';
import { StoreError } from '../../../src/core/errors';
import { limits } from '../../../src/core/limits';
import { decodeBody, encodeBody } from '../../../src/core/wire/call';
import { type Caller, type Door, DoorStore, newRequest } from '../../../src/store/doors/door';
import { FetchDoor } from '../../../src/store/doors/fetch-door';
import { MessageDoor } from '../../../src/store/doors/message-door';
import { PortLane } from '../../../src/store/doors/port-lane';
import { FalseWorker, type StopPoint, stopPoints } from './false-worker';

const caller: Caller = {
  build: 'test',
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};

function put(door: Door, key: string, ms: number = limits.callMs): Promise<unknown> {
  return door.call(newRequest(caller, 'put', { key, value: 1 }), Date.now() + ms);
}

function messageDoor(worker: FalseWorker): MessageDoor {
  return new MessageDoor(worker.container, navigator.locks, caller);
}

/** A stop at every `every`th passage of the point, `most` times in all. */
function stopEvery(every: number, at: StopPoint, most: number): (point: StopPoint) => boolean {
  let passed = 0;
  return (point) => {
    if (point !== at) return false;
    passed += 1;
    return passed % every === 0 && passed <= every * most;
  };
}

describe('the message door', () => {
  test('posts the call before it returns, also to a worker that is stopped', async () => {
    const worker = new FalseWorker();
    const door = messageDoor(worker);
    const answered = put(door, 'a');
    expect(worker.posted).toBeGreaterThan(0);
    expect(await answered).toMatchObject({ outcome: 'new' });
  });

  test('posts what one task calls together, in its order, and answers each call by itself', async () => {
    const worker = new FalseWorker();
    const door = messageDoor(worker);
    await put(door, 'first');
    const before = worker.posted;
    const names = Array.from({ length: limits.callsPerMessageMax + 10 }, (_, at) => `${at}`);
    const answers = await Promise.all(names.map((name) => put(door, name)));
    expect(worker.posted - before).toBe(3);
    expect(answers.every((answer) => (answer as { outcome: unknown }).outcome === 'new')).toBe(true);
    expect([...worker.rows.kept.keys()]).toEqual(['first', ...names]);
  });

  test.each(stopPoints)('settles every call, each row once, when the worker stops %s', async (point) => {
    const worker = new FalseWorker();
    const door = messageDoor(worker);
    await put(door, 'first');
    worker.stopsAt = stopEvery(3, point, 8);
    for (let at = 0; at < 20; at++) await put(door, `serial ${at}`);
    worker.stopsAt = stopEvery(7, point, 3);
    await Promise.all(Array.from({ length: 20 }, (_, at) => put(door, `together ${at}`)));
    expect(worker.starts).toBeGreaterThan(8);
    expect(worker.rows.kept.size).toBe(41);
    if (point === 'after the commit') expect(worker.rows.runs).toBeGreaterThan(41);
  });

  test('says busy at the deadline when nothing answers, and the call settles once', async () => {
    const worker = new FalseWorker();
    worker.stopsAt = (point) => point === 'before delivery';
    const call = put(messageDoor(worker), 'a', 300);
    await expect(call).rejects.toMatchObject({ name: 'StoreError', kind: 'busy' });
  });

  test('reaches the worker from a page loaded past it, and has itself claimed', async () => {
    const worker = new FalseWorker();
    worker.controlled = false;
    const door = messageDoor(worker);
    expect(await put(door, 'a')).toMatchObject({ outcome: 'new' });
    await vi.waitFor(() => expect(worker.controlled).toBe(true));
  });
});

describe('the lane', () => {
  function laneOver(worker: FalseWorker): { lane: PortLane; based: string[] } {
    const based: string[] = [];
    const base: Door = {
      call: async (request) => {
        based.push(request.call);
        return (await worker.answer(request)) as never;
      },
    };
    const page = messageDoor(worker);
    return {
      based,
      lane: new PortLane({ ...caller, locks: navigator.locks, broker: () => page.lane(), base }),
    };
  }

  test('carries the first calls by its base, and then by itself', async () => {
    const worker = new FalseWorker();
    const { lane, based } = laneOver(worker);
    await put(lane, 'a');
    await vi.waitFor(() => expect(lane.isOpen).toBe(true));
    const before = based.length;
    await put(lane, 'b');
    expect(based).toHaveLength(before);
    expect([...worker.rows.kept.keys()]).toEqual(['a', 'b']);
  });

  test.each(stopPoints)('settles every call, each row once, when the worker stops %s', async (point) => {
    const worker = new FalseWorker();
    const { lane } = laneOver(worker);
    for (let at = 0; at < 10; at++) {
      worker.stopsAt = () => false;
      await put(lane, `before ${at}`);
      await vi.waitFor(() => expect(lane.isOpen).toBe(true));
      worker.stopsAt = stopEvery(2, point, 1);
      await Promise.all([put(lane, `one ${at}`), put(lane, `other ${at}`)]);
    }
    expect(worker.starts).toBeGreaterThan(5);
    expect(worker.rows.kept.size).toBe(30);
  });

  test('whose worker never greets is given up for the base', async () => {
    const base: Door = {
      call: async () => ({ v: 1, sw: 's', build: 'b', rev: 0, outcome: 'base', effects: [] }),
    };
    const deaf = async () => new MessageChannel().port1;
    const lane = new PortLane({ ...caller, locks: navigator.locks, broker: deaf, base });
    expect(await put(lane, 'a')).toMatchObject({ outcome: 'base' });
    expect(lane.isOpen).toBe(false);
  });
});

describe('the fetch door', () => {
  const answer = (outcome: unknown) => ({ v: 1, sw: 's', build: 'b', rev: 0, outcome, effects: [] });
  const marked = { 'x-holdfast': '1' };

  /** A worker behind fetch: answers each call with its arguments. */
  function echo(bodies: unknown[][]): typeof fetch {
    return async (_url, init) => {
      const calls = decodeBody(init?.body as Uint8Array<ArrayBuffer>) as { args: unknown }[];
      bodies.push(calls);
      return new Response(encodeBody(calls.map((call) => answer(call.args))), { headers: marked });
    };
  }

  function doorTo(fetcher: typeof fetch, uncontrolled: () => void = () => {}): FetchDoor {
    return new FetchDoor({ ...caller, fetch: fetcher, uncontrolled });
  }

  test('sends the calls of one task in one fetch, and tells the answers apart', async () => {
    const bodies: unknown[][] = [];
    const door = doorTo(echo(bodies));
    const answers = await Promise.all(['a', 'b', 'c'].map((key) => put(door, key)));
    expect(answers).toMatchObject(['a', 'b', 'c'].map((key) => ({ outcome: { key, value: 1 } })));
    expect(bodies.map((calls) => calls.length)).toEqual([3]);
    await Promise.all(Array.from({ length: limits.callsPerFetchMax + 1 }, (_, at) => put(door, `${at}`)));
    expect(bodies.map((calls) => calls.length)).toEqual([3, limits.callsPerFetchMax, 1]);
  });

  test('sends calls that are too large together one by one, and refuses one that is too large alone', async () => {
    const bodies: unknown[][] = [];
    const door = doorTo(echo(bodies));
    const large = (bytes: number) =>
      door.call(newRequest(caller, 'put', new Uint8Array(bytes)), Date.now() + limits.callMs);
    const [one, two, three] = await Promise.allSettled([
      large(limits.callBytesMax * 0.6),
      large(limits.callBytesMax * 0.6),
      large(limits.callBytesMax),
    ]);
    expect([one.status, two.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(three).toMatchObject({ status: 'rejected', reason: { kind: 'refused' } });
    expect(bodies.map((calls) => calls.length)).toEqual([1, 1]);
  });

  test('takes an answer without the marker for a foreign one, and goes on until the worker is there', async () => {
    const bodies: unknown[][] = [];
    let host = 2;
    const uncontrolled = vi.fn();
    const door = doorTo(async (url, init) => {
      host -= 1;
      if (host < 0) return echo(bodies)(url, init);
      return new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } });
    }, uncontrolled);
    expect(await put(door, 'a')).toMatchObject({ outcome: { key: 'a' } });
    expect(uncontrolled).toHaveBeenCalledTimes(2);
  });

  test('repeats a failed fetch under the same call id', async () => {
    const sent: unknown[][] = [];
    let failures = 2;
    const door = doorTo(async (url, init) => {
      const answered = await echo(sent)(url, init);
      failures -= 1;
      if (failures >= 0) throw new TypeError('Failed to fetch');
      return answered;
    });
    expect(await put(door, 'a')).toMatchObject({ outcome: { key: 'a' } });
    expect(new Set(sent.map(([call]) => (call as { call: string }).call)).size).toBe(1);
    expect(sent).toHaveLength(3);
  });

  test('says busy at the deadline', async () => {
    const hung = doorTo(
      (_url, init) =>
        new Promise((_done, fail) => {
          init?.signal?.addEventListener('abort', () => fail(new DOMException('aborted', 'AbortError')));
        }),
    );
    await expect(put(hung, 'a', 200)).rejects.toMatchObject({ kind: 'busy' });
    const refusing = doorTo(() => Promise.reject(new TypeError('Failed to fetch')));
    await expect(put(refusing, 'a', 200)).rejects.toMatchObject({ kind: 'busy' });
  });

  test('keeps the worker awake only while told to', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const bodies: unknown[][] = [];
      const door = doorTo(echo(bodies));
      door.keepAwake(true);
      door.keepAwake(true);
      await vi.advanceTimersByTimeAsync(limits.keepAliveMs * 3);
      expect(bodies).toHaveLength(3);
      door.keepAwake(false);
      await vi.advanceTimersByTimeAsync(limits.keepAliveMs * 3);
      expect(bodies).toHaveLength(3);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the store behind a door', () => {
  test('turns errors into StoreErrors, and waits while the database is upgraded', async () => {
    const errors = ['upgrading', 'upgrading', undefined, 'fenced'] as const;
    let at = -1;
    const calls = new Set<string>();
    const door: Door = {
      call: async (request) => {
        at += 1;
        calls.add(request.call);
        const err = errors[at];
        const head = { v: 1, sw: 's', build: 'b' };
        return err === undefined ? { ...head, rev: 0, outcome: null, effects: [] } : { ...head, err };
      },
    };
    const store = new DoorStore(door, caller);
    expect(await store.hello()).toBe('b');
    expect(calls.size).toBe(1);
    const failed = await store.hello().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(StoreError);
    expect(failed).toMatchObject({ kind: 'fenced' });
  });
});
