import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { utf8Bytes } from '../../src/core/wire/codec';
import { decodeEvent, encodeEvent, eventId, type Header } from '../../src/core/wire/event';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import type { RelayGraph } from '../../src/relay/relay-graph';
import { type Made, make, noBlob, one, slot, twoPaths } from '../fixtures/graph-world';
import { memoryGraph } from '../fixtures/peer';
import { runRelay } from '../fixtures/running-relay';

const hour = holdfast.rotationMs;
const now = (): number => slot + 20_000;
const has = (inserted: boolean) => ({ type: 'has', inserted });
const nack = (reason: string) => ({ type: 'nack', reason });

function found(made: ReadonlyMap<string, Made>, name: string): Made {
  const event = made.get(name);
  if (event === undefined) throw new Error(`${name} is not drawn`);
  return event;
}

async function graphOf(made: ReadonlyMap<string, Made>): Promise<RelayGraph> {
  const graph = memoryGraph(now);
  for (const { bytes } of made.values()) await graph.put(bytes, noBlob, false);
  return graph;
}

/** A graph that gives one of its events with another body. */
async function altering(made: ReadonlyMap<string, Made>, name: string): Promise<RelayGraph> {
  const graph = await graphOf(made);
  const { id, event } = found(made, name);
  const forged = encodeEvent({ header: event.header, content: utf8Bytes('altered') });
  const truth = graph.bodies.bind(graph);
  graph.bodies = async (ids, eventsMax, bytesMax) =>
    (await truth(ids, eventsMax, bytesMax)).map((body) =>
      eventId(decodeEvent(body.event).header) === id ? { ...body, event: forged } : body,
    );
  return graph;
}

/** A graph of an ancestor that breaks the layer rule, and what was built on it. */
function lyingChain(): { readonly graph: RelayGraph; readonly top: Made } {
  const a = one(slot + 1_000, [genesisOf(holdfast, slot).id], 1, 'a');
  const b = one(slot + 2_000, [a.id], 5, 'a layer of its own choice');
  const c = one(slot + 3_000, [b.id], 6, 'c');
  const top = one(slot + 4_000, [c.id], 7, 'top');
  const held = [a, b, c];
  const graph = memoryGraph(now);
  graph.headers = async (): Promise<readonly Header[]> => held.map((made) => made.event.header);
  graph.bodies = async (ids) =>
    held.filter((made) => ids.includes(made.id)).map((made) => ({ event: made.bytes, blob: noBlob }));
  return { graph, top };
}

describe('an event on parents that are not here', () => {
  test('[EG-06] whose ancestor can never be valid: Invalid, however often, and no strike', async () => {
    const relay = await runRelay({ now });
    const { graph, top } = lyingChain();
    const peer = await relay.peer({ graph });
    for (let count = 0; count < 7; count++) expect(await peer.put(top)).toEqual(nack('invalid'));
    const fresh = one(slot + 1_000, [genesisOf(holdfast, slot).id], 1, 'fresh');
    expect(await peer.put(fresh)).toEqual(has(true));
  });

  test('[EG-07] that waits while such a one is fetched for is not Invalid by it', async () => {
    const relay = await runRelay({ now });
    const { graph, top } = lyingChain();
    const peer = await relay.peer({ graph });
    const beside = one(slot + 2_000, ['ab'.repeat(32)], 2, 'on a parent this peer does not give');
    peer.say({ say: 'put', event: top.bytes, blob: noBlob });
    peer.say({ say: 'put', event: beside.bytes, blob: noBlob });
    const answers = [top, beside].map(({ id }) => peer.next('status', (status) => status.id === id));
    expect((await Promise.all(answers)).map((status) => status.result)).toEqual([
      nack('invalid'),
      nack('busy'),
    ]);
  });

  test('[EG-07] (child rejected when parent body rejected) whose parent is given altered: Busy, and Has from a peer with the right one', async () => {
    const relay = await runRelay({ now });
    const made = make(twoPaths);
    const liar = await relay.peer({ graph: await altering(made, 'b') });
    const f = found(made, 'f');
    expect(await liar.put(f)).toEqual(nack('busy'));
    expect(await liar.put(found(made, 'd'))).toEqual(nack('busy'));
    const honest = await relay.peer({ graph: await graphOf(made) });
    expect(await honest.put(f)).toEqual(has(true));
    expect(await honest.put(found(made, 'b'))).toEqual(has(false));
  });

  test('[EG-07] whose peer leaves before it answers: nothing of it stays, and another peer brings it', async () => {
    const relay = await runRelay({ now });
    const made = make(twoPaths);
    const silent = await relay.peer();
    silent.say({ say: 'put', event: found(made, 'f').bytes, blob: noBlob });
    await silent.next('headers-asked');
    silent.close();
    await silent.ended;
    const honest = await relay.peer({ graph: await graphOf(made) });
    expect(await honest.put(found(made, 'f'))).toEqual(has(true));
  });
});

describe('a first sync', () => {
  test('(dag_sync_rejects_bad_blob, child rejected when parent body rejected) from a peer that alters a body ends, and goes on with another', async () => {
    const relay = await runRelay({ now, sections: '' });
    const made = make(twoPaths);
    await relay.peer({ graph: await altering(made, 'c') });
    const honest = await relay.peer({ graph: await graphOf(made) });
    await honest.next('events-asked');
    const f = found(made, 'f');
    let answer = await honest.put(f);
    while (answer.type === 'nack' && answer.reason === 'not-synced') answer = await honest.put(f);
    expect(answer).toEqual(has(false));
    expect(relay.log.join('')).toContain('"event":"slot not complete","why":"broken"');
  });
});

describe('slots over a restart', () => {
  const bootstrap = '[peers]\nbootstrap = true';

  test('[EG-04] tips, headers, bodies and what is known are as before, in every kept slot', async () => {
    let time = now();
    const first = await runRelay({ now: () => time });
    const before = await first.peer();
    const old = make(twoPaths);
    for (const { bytes, id } of old.values()) expect(await before.put({ id, bytes })).toEqual(has(true));
    time = slot + hour + 20_000;
    const next = make('a - b', slot + hour);
    const later = await first.peer();
    for (const { bytes, id } of next.values()) expect(await later.put({ id, bytes })).toEqual(has(true));
    const ask = async (peer: typeof later) => [
      await peer.ask({ ask: 'tips', slot }),
      await peer.ask({ ask: 'tips', slot: slot + hour }),
      await peer.ask({ ask: 'headers', slot, tips: [] }),
      await peer.ask({ ask: 'events', ids: [...old.values()].map((made) => made.id) }),
    ];
    const told = await ask(later);
    await first.running.stop();
    const second = await runRelay({ folder: first.folder, now: () => time });
    const peer = await second.peer();
    const strip = (answers: readonly unknown[]) => answers.map((one) => ({ ...(one as object), tag: '' }));
    expect(strip(await ask(peer))).toEqual(strip(told));
    for (const { bytes, id } of [...old.values(), ...next.values()]) {
      expect(await peer.put({ id, bytes })).toEqual(has(false));
    }
    const above = one(slot + hour + 5_000, [found(next, 'b').id], 3, 'above');
    expect(await peer.put(above)).toEqual(has(true));
  });

  test('[EG-03] [EG-04] 720 slots are kept where nothing else is said, and the 721st is forgotten', async () => {
    let time = now();
    const first = await runRelay({ now: () => time });
    const a = found(make('a'), 'a');
    expect(await (await first.peer()).put(a)).toEqual(has(true));
    await first.running.stop();
    time = slot + 720 * hour - 1;
    const second = await runRelay({ folder: first.folder, now: () => time });
    expect(await (await second.peer()).put(a)).toEqual(has(false));
    await second.running.stop();
    time = slot + 720 * hour;
    const third = await runRelay({ folder: first.folder, now: () => time });
    expect(await (await third.peer()).put(a)).toEqual(nack('too-old'));
  });

  test('(archive_mode_discovers_existing_trees) told to keep more, it serves what is still there', async () => {
    let time = now();
    const few = `${bootstrap}\n[profile]\nretained_slots = 3\nsync_slots = 1`;
    const first = await runRelay({ now: () => time, sections: few });
    const a = found(make('a'), 'a');
    await (await first.peer()).put(a);
    time = slot + 2 * hour + 5_000;
    await first.running.stop();
    time = slot + 9 * hour;
    const more = `${bootstrap}\n[profile]\nretained_slots = 10\nsync_slots = 1`;
    const second = await runRelay({ folder: first.folder, now: () => time, sections: more });
    const peer = await second.peer();
    expect(await peer.ask({ ask: 'tips', slot })).toMatchObject({ tips: [{ id: a.id, layer: 1 }] });
    expect(await peer.put(a)).toEqual(has(false));
  });

  test('what the store holds is counted as before: its bound holds over the restart', async () => {
    const room = 'store_bytes_max = 500';
    const first = await runRelay({ now, relay: room });
    const made = [...make('a - b - c').values()];
    const answers = [];
    const peer = await first.peer();
    for (const { bytes, id } of made) answers.push(await peer.put({ id, bytes }));
    expect(answers).toEqual([has(true), has(true), nack('busy')]);
    await first.running.stop();
    const second = await runRelay({ folder: first.folder, now, relay: room });
    const again = await second.peer();
    const [a, , c] = made as [Made, Made, Made];
    expect(await again.put(c)).toEqual(nack('busy'));
    expect(await again.put(a)).toEqual(has(false));
  });
});

describe('a store with a damaged record', () => {
  test('(rejects_corrupt_header_index, rejects_corrupt_event_tree_on_open) is one event less: its slot, other slots and every session go on', async () => {
    let time = now();
    const first = await runRelay({ now: () => time });
    const a = found(make('a'), 'a');
    await (await first.peer()).put(a);
    time = slot + hour + 20_000;
    const b = found(make('b', slot + hour), 'b');
    await (await first.peer()).put(b);
    await first.running.stop();
    const database = new Database(join(first.folder, 'relay.sqlite'));
    const rows = database.prepare('SELECT rowid AS id, row FROM events').all() as {
      id: number;
      row: Buffer;
    }[];
    const damaged = rows.find(({ row }) => row.includes(Buffer.from(a.id)));
    database.prepare('UPDATE events SET row = ? WHERE rowid = ?').run(randomBytes(300), damaged?.id);
    database.close();
    const second = await runRelay({ folder: first.folder, now: () => time });
    const other = await second.peer();
    expect(await other.ask({ ask: 'headers', slot, tips: [] })).toMatchObject({ headers: [{ layer: 0n }] });
    expect(await other.ask({ ask: 'headers', slot: slot + hour, tips: [] })).toMatchObject({
      headers: [{ layer: 0n }, { layer: 1n }],
    });
    expect(await other.put(b)).toEqual(has(false));
  });
});
