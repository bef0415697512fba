import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Effect } from '../../src/core/effects';
import { StoreError, type StoreErrorKind } from '../../src/core/errors';
import { limits } from '../../src/core/limits';
import { type CallAnswer, callId } from '../../src/core/wire/call';
import { type NamedStore, Server, type ServerParts } from '../../sw/server';

const look: Effect = { type: 'look', account: 'a'.repeat(32), store: 'outbox', revision: 9 };
let ids = 0;

function request(name: string, more: object = {}): object {
  ids += 1;
  const call = callId(Uint8Array.from({ length: 16 }, (_, at) => (at === 0 ? ids : 1)));
  return { v: 1, build: 'test', call, name, args: null, ...more };
}

/** A store of one write and one read, whose steps the test decides. */
function makeStore(over: Partial<NamedStore> = {}): NamedStore {
  return {
    kindOf: (name) => (name === 'put' ? 'write' : name === 'get' ? 'read' : undefined),
    open: async () => {},
    write: async (_name, args) => ({ outcome: { kept: args }, effects: [look] }),
    read: async (_name, args) => ({ found: args }),
    ...over,
  };
}

function serverOf(store: NamedStore, over: Partial<ServerParts> = {}): Server {
  return new Server({
    instance: { id: 'instance', alive: async () => {} },
    build: 'built',
    store,
    announce: () => {},
    claim: async () => {},
    greeted: async () => {},
    now: Date.now,
    ...over,
  });
}

function errorOf(answer: CallAnswer): StoreErrorKind | undefined {
  return 'err' in answer ? answer.err : undefined;
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the handler behind the doors', () => {
  test('answers outcome, effects and revision, and announces only what is committed', async () => {
    const announced: Effect[] = [];
    let commit: () => void = () => {};
    const committed = new Promise<void>((done) => {
      commit = done;
    });
    const store = makeStore({
      write: async () => {
        await committed;
        return { outcome: 1, effects: [look] };
      },
    });
    const { answer } = serverOf(store, { announce: (one) => announced.push(one) }).serve(request('put'));
    await vi.advanceTimersByTimeAsync(100);
    expect(announced).toEqual([]);
    commit();
    expect(await answer).toEqual({
      v: 1,
      sw: 'instance',
      build: 'built',
      rev: 9,
      outcome: 1,
      effects: [look],
    });
    expect(announced).toEqual([look]);
  });

  test('answers a read without effects', async () => {
    const { answer } = serverOf(makeStore()).serve(request('get', { args: 'key' }));
    expect(await answer).toMatchObject({ outcome: { found: 'key' }, effects: [], rev: 0 });
  });

  test.each<[string, unknown, StoreErrorKind]>([
    ['an old version', { ...request('put'), v: 0 }, 'outdated'],
    ['a version to come', { ...request('put'), v: 2 }, 'outdated'],
    ['no call', 'put', 'refused'],
    ['a call without id', { ...request('put'), call: 'x' }, 'refused'],
    ['no such script', request('drop'), 'unknown'],
    ['a name of every object', request('constructor'), 'unknown'],
  ])('refuses %s', async (_what, value, kind) => {
    expect(errorOf(await serverOf(makeStore()).serve(value).answer)).toBe(kind);
  });

  test.each<[unknown, StoreErrorKind]>([
    [new StoreError('fenced'), 'fenced'],
    [new StoreError('storage'), 'storage'],
    [new TypeError('a bug'), 'internal'],
  ])('tells %s by its kind', async (error, kind) => {
    const quiet = vi.spyOn(console, 'error').mockImplementation(() => {});
    const store = makeStore({ write: () => Promise.reject(error) });
    expect(errorOf(await serverOf(store).serve(request('put')).answer)).toBe(kind);
    expect(JSON.stringify(quiet.mock.calls)).not.toContain('a bug');
    quiet.mockRestore();
  });

  test('says busy at the deadline and stays alive until the store is through', async () => {
    let commit: () => void = () => {};
    const store = makeStore({
      write: () =>
        new Promise((done) => {
          commit = () => done({ outcome: 1, effects: [] });
        }),
    });
    const { answer, settled } = serverOf(store).serve(request('put'));
    let over = false;
    void settled.then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(limits.callMs);
    expect(errorOf(await answer)).toBe('busy');
    expect(over).toBe(false);
    commit();
    await vi.advanceTimersByTimeAsync(0);
    expect(over).toBe(true);
  });

  test('says upgrading when it is the database that does not open', async () => {
    const never = new Promise<never>(() => {});
    const store = makeStore({ open: () => never, read: () => never });
    const { answer } = serverOf(store).serve(request('get'));
    await vi.advanceTimersByTimeAsync(limits.callMs);
    expect(errorOf(await answer)).toBe('upgrading');
  });

  test('lets no answer leave before its lock tells of its death', async () => {
    let grant: () => void = () => {};
    const alive = new Promise<void>((granted) => {
      grant = granted;
    });
    const instance = { id: 'instance', alive: () => alive };
    const { answer } = serverOf(makeStore(), { instance }).serve(request('hello'));
    let answered = false;
    void answer.then(() => {
      answered = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(answered).toBe(false);
    grant();
    expect(await answer).toMatchObject({ sw: 'instance', outcome: null });
  });

  test('claims on request', async () => {
    const claim = vi.fn(async () => {});
    expect(errorOf(await serverOf(makeStore(), { claim }).serve(request('claim')).answer)).toBeUndefined();
    expect(claim).toHaveBeenCalledTimes(1);
  });
});

test('a greeting starts what is due without waiting for it', async () => {
  let over: () => void = () => {};
  const greeted = vi.fn(() => new Promise<void>((done) => (over = done)));
  const { answer, settled } = serverOf(makeStore(), { greeted }).serve(request('hello'));
  expect(await answer).toMatchObject({ outcome: null });
  expect(greeted).toHaveBeenCalledTimes(1);
  const late = await Promise.race([settled, Promise.resolve('not yet')]);
  expect(late).toBe('not yet');
  over();
  await settled;
});

describe('a repeated call', () => {
  test('joins the one under way and gets the answer of the finished one', async () => {
    const write = vi.fn(async () => ({ outcome: write.mock.calls.length, effects: [] }));
    const server = serverOf(makeStore({ write }));
    const call = request('put');
    const both = await Promise.all([server.serve(call).answer, server.serve(call).answer]);
    expect(both).toMatchObject([{ outcome: 1 }, { outcome: 1 }]);
    expect(await server.serve(call).answer).toMatchObject({ outcome: 1 });
    expect(await server.serve(request('put')).answer).toMatchObject({ outcome: 2 });
    expect(write).toHaveBeenCalledTimes(2);
  });

  test('runs again after a failure, after its time, and when too many came since', async () => {
    const write = vi.fn(async () => ({ outcome: 1, effects: [] as Effect[] }));
    write.mockRejectedValueOnce(new StoreError('storage'));
    const server = serverOf(makeStore({ write }));
    const call = request('put');
    expect(errorOf(await server.serve(call).answer)).toBe('storage');
    await server.serve(call).answer;
    expect(write).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(limits.callRepeatMs);
    await server.serve(call).answer;
    expect(write).toHaveBeenCalledTimes(3);
    for (let at = 0; at < limits.callsRememberedMax; at++) {
      const other = callId(Uint8Array.from({ length: 16 }, (_, byte) => (byte < 2 ? at >> (8 * byte) : 77)));
      await server.serve({ ...request('put'), call: other }).answer;
    }
    await server.serve(call).answer;
    expect(write).toHaveBeenCalledTimes(4 + limits.callsRememberedMax);
  });
});
