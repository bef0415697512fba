import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SealError } from '../../../src/core/crypto/seal';
import {
  openChannel,
  openDraft,
  openIdentity,
  openOwnBody,
  openReceivedBody,
  sameOwnBody,
  sealChannel,
  sealDraft,
  sealIdentity,
  sealOwnBody,
  sealReceivedBody,
} from '../../../src/core/history/records';
import type { Bytes } from '../../../src/core/ids';
import { put, remove } from '../../../src/core/transaction';
import {
  account,
  bodyOf,
  closed,
  command,
  enqueueArgs,
  fresh,
  nick,
  open,
  openName,
  secret,
  t0,
} from '../../fixtures/account';
import { Home } from '../../fixtures/home';

const key = { id: 3, bytes: new Uint8Array(32).fill(9) };
const text = fc.string({ unit: 'grapheme', maxLength: 200 });
const name = fc.string({ unit: 'grapheme', maxLength: 12 });
const message = (own: boolean, body: Bytes, logical = command(1)) => ({
  account,
  conversation: open,
  seq: 1,
  logical,
  at: t0,
  own,
  body,
});
const elsewhere = 'ee'.repeat(16);

describe('sealed records of the history', () => {
  test('an own body comes back as it was, with and without a secret', () => {
    fc.assert(
      fc.property(name, name, text, fc.boolean(), (nick, channel, said, isClosed) => {
        const body = { nick, channel, text: said, ...(isClosed ? { secret } : {}) };
        const sealed = sealOwnBody(key, account, command(1), body, fresh(12));
        expect(openOwnBody(key, message(true, sealed))).toEqual(body);
      }),
    );
  });

  test('received bodies, channels, drafts and the identity come back as they were', () => {
    fc.assert(
      fc.property(name, text, (label, said) => {
        const received = { nick: label, text: said };
        const body = sealReceivedBody(key, account, command(1), received, fresh(12));
        expect(openReceivedBody(key, message(false, body))).toEqual(received);
        const channel = { name: label, secret };
        const row = {
          account,
          conversation: open,
          createdAt: 0,
          lastSeq: 0,
          lastAt: 0,
          readSeq: 0,
          unread: 0,
        };
        expect(
          openChannel(key, { ...row, sealed: sealChannel(key, account, open, channel, fresh(12)) }),
        ).toEqual(channel);
        const draft = {
          account,
          conversation: open,
          at: 0,
          sealed: sealDraft(key, account, open, said, fresh(12)),
        };
        expect(openDraft(key, draft)).toBe(said);
        const identity = sealIdentity(key, account, { nick: label }, fresh(12));
        expect(openIdentity(key, { account, profile: 'holdfast', createdAt: 0, sealed: identity })).toEqual({
          nick: label,
        });
      }),
    );
  });

  test('a record moved to another account, command, conversation or kind does not open', () => {
    const own = sealOwnBody(key, account, command(1), bodyOf('mine'), fresh(12));
    const received = sealReceivedBody(key, account, command(1), { nick, text: 'yours' }, fresh(12));
    const draft = sealDraft(key, account, open, 'half', fresh(12));
    const moved = [
      () => openOwnBody(key, message(true, own, command(2))),
      () => openOwnBody(key, { ...message(true, own), account: elsewhere }),
      () => openReceivedBody(key, message(false, received, command(2))),
      () => openReceivedBody(key, message(false, own)),
      () => openOwnBody(key, message(true, received)),
      () => openDraft(key, { account, conversation: closed, at: 0, sealed: draft }),
      () => openDraft(key, { account: elsewhere, conversation: open, at: 0, sealed: draft }),
      () => openOwnBody({ ...key, bytes: fresh(32) }, message(true, own)),
    ];
    for (const attempt of moved) expect(attempt).toThrow(SealError);
    expect(openOwnBody(key, { ...message(true, own), conversation: closed, seq: 9 })).toEqual(bodyOf('mine'));
  });

  test('no changed, cut or lengthened record opens', () => {
    const sealed = sealOwnBody(key, account, command(1), bodyOf('mine'), fresh(12));
    for (let at = 0; at < sealed.length; at++) {
      const changed = sealed.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => openOwnBody(key, message(true, changed))).toThrow(SealError);
      expect(() => openOwnBody(key, message(true, sealed.slice(0, at)))).toThrow(SealError);
    }
    const longer = new Uint8Array(sealed.length + 1);
    longer.set(sealed);
    expect(() => openOwnBody(key, message(true, longer))).toThrow(SealError);
  });

  test('bodies are the same only when all of them is', () => {
    const body = bodyOf('a', closed);
    expect(sameOwnBody(body, bodyOf('a', closed))).toBe(true);
    const { secret: _secret, ...withoutSecret } = body;
    for (const other of [
      { ...body, nick: 'b' },
      { ...body, text: 'b' },
      { ...body, channel: 'b' },
      { ...body, secret: fresh(32) },
      withoutSecret,
    ]) {
      expect(sameOwnBody(body, other)).toBe(false);
      expect(sameOwnBody(other, body)).toBe(false);
    }
  });
});

describe('a damaged record', () => {
  async function damaged(): Promise<Home> {
    const home = await Home.with(3);
    const row = home.message(2);
    const body = row.body.slice();
    body[body.length - 1] = (body.at(-1) ?? 0) ^ 0xff;
    home.tables.write([put('messages', { ...row, body })]);
    return home;
  }

  test('is one unreadable line of its page, and the rest of the page is there', async () => {
    const home = await damaged();
    const page = await home.store.read('timeline', { account, conversation: open, limit: 10 });
    expect(page.messages.map((one) => one.body?.text)).toEqual(['message 1', undefined, 'message 3']);
    expect(page.messages.map((one) => one.seq)).toEqual([1, 2, 3]);
  });

  test('is one unreadable last line, draft or name of the overview, and the rest is there', async () => {
    const home = await damaged();
    home.tables.write([remove('messages', [account, open, home.message(3).seq])]);
    await home.store.transact('putDraft', {
      account,
      conversation: closed,
      text: 'kept',
      now: t0,
      nonce: fresh(12),
    });
    const [channel] = home.rows('conversations');
    const broken = { ...channel, sealed: fresh(60) } as never;
    home.tables.write([
      put('conversations', broken),
      put('drafts', { account, conversation: open, sealed: fresh(9), at: t0 }),
    ]);
    const overview = await home.store.read('overview', {});
    const [first, second] = overview.conversations;
    expect(overview.account?.nick).toBe(nick);
    expect(first).toMatchObject({ conversation: open, name: '', last: { seq: 2 } });
    expect(first?.last?.body).toBeUndefined();
    expect(first?.draft).toBeUndefined();
    expect(second).toMatchObject({ conversation: closed, draft: 'kept' });
    expect(overview.head?.body?.text).toBe('message 1');
  });

  test('of the account or a channel stops neither the overview nor the joining of another channel', async () => {
    const home = await Home.with(1);
    const [identity] = home.rows('accounts');
    const [channel] = home.rows('conversations');
    const sealed = fresh(60);
    home.tables.write([
      put('accounts', { ...identity, sealed } as never),
      put('conversations', { ...channel, sealed } as never),
    ]);
    const overview = await home.store.read('overview', {});
    expect(overview.account?.nick).toBe('');
    expect(overview.head?.body?.text).toBe('message 1');
    const joining = { account, conversation: 'd0'.repeat(16), name: '#new', now: t0, nonce: fresh(12) };
    const { outcome } = await home.store.transact('joinChannel', joining);
    expect(outcome).toEqual({ kind: 'joined', conversation: 'd0'.repeat(16), created: true });
  });

  test('of another message does not stand in for it: its record is bound to its own command', async () => {
    const home = await Home.with(2);
    home.tables.write([put('messages', { ...home.message(2), body: home.message(1).body })]);
    const page = await home.store.read('timeline', { account, conversation: open, limit: 10 });
    expect(page.messages.map((one) => one.body?.text)).toEqual(['message 1', undefined]);
  });

  test('pages go back from the newest, oldest first within each', async () => {
    const home = await Home.with(5);
    const page = (before?: number) =>
      home.store.read('timeline', {
        account,
        conversation: open,
        limit: 2,
        ...(before === undefined ? {} : { before }),
      });
    const pages = [await page(), await page(4), await page(2), await page(1)];
    expect(pages.map((one) => [one.messages.map((row) => row.seq), one.more])).toEqual([
      [[4, 5], true],
      [[2, 3], true],
      [[1], false],
      [[], false],
    ]);
    expect((await home.store.read('message', { account, conversation: open, seq: 3 }))?.body?.text).toBe(
      'message 3',
    );
    expect(enqueueArgs(1).body.channel).toBe(openName);
  });
});
