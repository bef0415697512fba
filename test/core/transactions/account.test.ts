import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/core/limits';
import { channelsMax, relaysMax } from '../../../src/core/transactions/account';
import {
  account,
  closed,
  closedName,
  fresh,
  nick,
  open,
  openName,
  relays,
  secret,
  t0,
} from '../../fixtures/account';
import { Home } from '../../fixtures/home';

const join = (conversation: string, name: string, key?: typeof secret) => ({
  account,
  conversation,
  name,
  now: t0,
  nonce: fresh(12),
  ...(key === undefined ? {} : { secret: key }),
});

describe('the account', () => {
  test('is made once: a second start answers the one that exists', async () => {
    const home = await Home.with();
    const args = {
      account: 'bb'.repeat(16),
      profile: 'holdfast',
      nick: 'Other',
      relays: [],
      now: t0,
      nonce: fresh(12),
    };
    const { outcome, effects } = await home.store.transact('createAccount', args);
    expect([outcome, effects]).toEqual([{ account, created: false }, []]);
    const overview = await home.store.read('overview', {});
    expect(overview.account).toMatchObject({ account, nick });
    expect(overview.relays.map((row) => row.url)).toEqual(relays);
  });

  test('is in a channel once, told apart by name and secret', async () => {
    const home = await Home.with();
    const again = await home.store.transact('joinChannel', join('11'.repeat(16), openName));
    expect(again.outcome).toEqual({ kind: 'joined', conversation: open, created: false });
    const same = await home.store.transact('joinChannel', join('12'.repeat(16), closedName, secret));
    expect(same.outcome).toEqual({ kind: 'joined', conversation: closed, created: false });
    for (const [id, name, key] of [
      ['13', closedName, undefined],
      ['14', closedName, fresh(32)],
      ['15', openName, secret],
    ] as const) {
      const { outcome } = await home.store.transact('joinChannel', join(id.repeat(16), name, key));
      expect(outcome).toEqual({ kind: 'joined', conversation: id.repeat(16), created: true });
    }
    const strange = { ...join('16'.repeat(16), '#x'), account: 'bb'.repeat(16) };
    expect((await home.store.transact('joinChannel', strange)).outcome).toEqual({ kind: 'unknown-account' });
  });

  test('has bounds on channels and relays, and says so', async () => {
    const home = await Home.with(0, []);
    const ids = Array.from({ length: channelsMax - 1 }, (_, at) => at.toString(16).padStart(32, '0'));
    const joined = await Promise.all(
      ids.map((id, at) => home.store.transact('joinChannel', join(id, `#${at}`))),
    );
    expect(joined.at(-1)?.outcome).toEqual({ kind: 'too-many', max: channelsMax });
    expect(joined.at(-2)?.outcome).toMatchObject({ created: true });
    const add = (url: string) => home.store.transact('addRelay', { account, url, now: t0 });
    for (let nth = 0; nth < relaysMax; nth++) await add(`wss://r${nth}/`);
    expect((await add('wss://one-more/')).outcome).toEqual({ kind: 'too-many', max: relaysMax });
    expect((await add('wss://r1/')).outcome).toEqual({ kind: 'known' });
    await home.store.transact('removeRelay', { account, url: 'wss://r1/', now: t0 });
    expect((await add('wss://one-more/')).outcome).toEqual({ kind: 'added' });
  });
});

describe('drafts and read marks', () => {
  const draft = (text: string) => ({ account, conversation: open, text, now: t0, nonce: fresh(12) }) as const;

  test('a draft is kept whole beyond what may be sent, and an empty one is removed', async () => {
    const home = await Home.with();
    const text = 'é'.repeat(limits.textBytesMax);
    await home.store.transact('putDraft', draft(text));
    const [kept] = (await home.store.read('overview', {})).conversations;
    expect(kept?.draft).toBe(text);
    await home.store.transact('putDraft', draft(''));
    const [gone] = (await home.store.read('overview', {})).conversations;
    expect(gone?.draft).toBeUndefined();
    expect(home.rows('drafts')).toEqual([]);
  });

  test('a read mark moves forward only, and what came after it stays unread', async () => {
    const home = await Home.with();
    const heard = [1, 2].map((nth) => ({
      ...{
        event: `${nth}`.repeat(64),
        logical: `${nth}`.repeat(32),
        conversation: open,
        nick: 'n',
        text: `${nth}`,
        time: t0,
      },
    }));
    await home.store.transact('scanChannel', { account, heard, now: t0, seed: fresh(32) });
    const unread = async () => (await home.store.read('overview', {})).conversations[0]?.unread;
    const mark = async (seq: number) =>
      (await home.store.transact('markRead', { account, conversation: open, seq })).outcome.kind;
    expect(await unread()).toBe(2);
    // The second came while the mark of the first was on its way.
    expect([await mark(1), await unread()]).toEqual(['read', 1]);
    expect([await mark(2), await unread()]).toEqual(['read', 0]);
    expect(await mark(1)).toBe('past');
    const strange = { account, conversation: 'ff'.repeat(16), seq: 1 };
    expect((await home.store.transact('markRead', strange)).outcome).toEqual({ kind: 'unknown' });
  });
});

describe('the reign of engines', () => {
  test('[RD-06] each new engine has a later term, a repeat of its call the same, and a late copy of an older one fences nobody', async () => {
    const home = await Home.with();
    const begin = async (engine: string) =>
      (await home.store.transact('beginEngine', { engine })).outcome.term;
    expect([await begin('one'), await begin('one'), await begin('two')]).toEqual([1, 1, 2]);
    home.restart();
    expect(await begin('one')).toBeLessThan(2);
    const relay = { account, url: 'wss://three/', now: t0 };
    expect((await home.store.transact('addRelay', relay, 2)).outcome).toEqual({ kind: 'added' });
    await expect(home.store.transact('addRelay', relay, 1)).rejects.toMatchObject({ kind: 'fenced' });
  });
});
