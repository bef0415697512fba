import { expect, test } from 'vitest';
import { account, closed, enqueueArgs, t0 } from '../../fixtures/account';
import { Home } from '../../fixtures/home';

test('a message and the draft it was typed as change places in one transaction', async () => {
  const home = await Home.with();
  const args = enqueueArgs(1);
  const draft = { account, now: t0, nonce: new Uint8Array(12).fill(7) };
  await home.store.transact('putDraft', { ...draft, conversation: args.conversation, text: args.body.text });
  await home.store.transact('putDraft', { ...draft, conversation: closed, text: 'another place' });
  await home.store.transact('enqueue', { ...args, takesDraft: true });
  expect(home.rows('drafts').map((row) => row.conversation)).toEqual([closed]);
  expect(home.lane()).toHaveLength(1);
});

test('a draft of another text stays: it is of another tab, or was typed since', async () => {
  const home = await Home.with();
  const args = enqueueArgs(1);
  const draft = { account, now: t0, nonce: new Uint8Array(12).fill(7), conversation: args.conversation };
  await home.store.transact('putDraft', { ...draft, text: `${args.body.text} and more` });
  await home.store.transact('enqueue', { ...args, takesDraft: true });
  expect(home.lane()).toHaveLength(1);
  const [kept] = (await home.store.read('overview', {})).conversations;
  expect(kept?.draft).toBe(`${args.body.text} and more`);
});

test('a refused message leaves its draft where it is', async () => {
  const home = await Home.with();
  const args = enqueueArgs(1);
  const draft = { account, now: t0, nonce: new Uint8Array(12).fill(7), conversation: args.conversation };
  await home.store.transact('putDraft', { ...draft, text: args.body.text });
  home.bound(10);
  const { outcome } = await home.store.transact('enqueue', { ...args, takesDraft: true });
  expect(outcome.kind).toBe('outbox-full');
  expect(home.rows('drafts')).toHaveLength(1);
});

test('a draft that does not open any more holds up no message', async () => {
  const home = await Home.with();
  const args = enqueueArgs(1);
  const draft = { account, now: t0, nonce: new Uint8Array(12).fill(7), conversation: args.conversation };
  await home.store.transact('putDraft', { ...draft, text: args.body.text });
  const [row] = home.rows('drafts');
  row?.sealed.fill(0, 30);
  const { outcome } = await home.store.transact('enqueue', { ...args, takesDraft: true });
  expect(outcome.kind).toBe('queued');
});

test('[OB-33] a repeat of a message whose record is damaged is a conflict, not an error', async () => {
  const home = await Home.with();
  const args = enqueueArgs(1);
  await home.store.transact('enqueue', args);
  const [row] = home.rows('messages');
  row?.body.fill(0, 30);
  const { outcome } = await home.store.transact('enqueue', args);
  expect(outcome.kind).toBe('conflict');
});
