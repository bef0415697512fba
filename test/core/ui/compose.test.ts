import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Compose,
  drafted,
  edited,
  emptyCompose,
  keyMeans,
  pressed,
  settled,
} from '../../../src/ui/compose';

/** Command ids in the order they are made. */
function commandsFrom(prefix: string): () => string {
  let made = 0;
  return () => `${prefix}${++made}`;
}

const enter = {
  key: 'Enter',
  keyCode: 13,
  isComposing: false,
  repeat: false,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
};

describe('the message field', () => {
  test('the command id is made when the text first changes after a send, not at the press', () => {
    const next = commandsFrom('c');
    const typed = edited(edited(emptyCompose, 'a', next), 'ab', next);
    expect(typed.command).toBe('c1');
    const { press } = pressed(typed, next);
    expect(press).toEqual({ command: 'c1', text: 'ab' });
  });

  test('a second press while the first is being stored does nothing', () => {
    const next = commandsFrom('c');
    const once = pressed(edited(emptyCompose, 'hello', next), next);
    const twice = pressed(once.state, next);
    expect(once.press).toBeDefined();
    expect(twice.press).toBeUndefined();
    expect(twice.state).toBe(once.state);
  });

  test('the same text typed again later is a second message with a command of its own', () => {
    const next = commandsFrom('c');
    const first = pressed(edited(emptyCompose, 'yes', next), next);
    const cleared = settled(first.state, 'c1', undefined);
    expect(cleared.text).toBe('');
    const second = pressed(edited(cleared, 'yes', next), next);
    expect(second.press).toEqual({ command: 'c2', text: 'yes' });
  });

  test('text stays in the field until the commit, and only what was committed leaves it', () => {
    const next = commandsFrom('c');
    const { state } = pressed(edited(emptyCompose, 'hello', next), next);
    expect(state.text).toBe('hello');
    const typedOn = edited(state, 'hello and more', next);
    const after = settled(typedOn, 'c1', undefined);
    expect(after.text).toBe('and more');
    expect(after.command).toBe('c2');
    const changed = settled(edited(state, 'other', next), 'c1', undefined);
    expect(changed.text).toBe('other');
  });

  test('a refusal keeps the text, and pressing again asks for the very same message', () => {
    const next = commandsFrom('c');
    const { state } = pressed(edited(emptyCompose, 'hello', next), next);
    const refused = settled(state, 'c1', { refused: 'storage' });
    expect(refused.text).toBe('hello');
    expect(refused.refusal).toEqual({ refused: 'storage' });
    expect(pressed(refused, next).press).toEqual({ command: 'c1', text: 'hello' });
  });

  test('after a refusal with an unknown outcome, changed text is a message of its own', () => {
    const next = commandsFrom('c');
    const { state } = pressed(edited(emptyCompose, 'hello', next), next);
    const typedOn = edited(state, 'hello!', next);
    const refused = settled(typedOn, 'c1', { refused: 'timeout' });
    expect(refused.text).toBe('hello!');
    expect(pressed(refused, next).press?.command).toBe('c2');
  });

  test('after a refusal, an edit of the refused text never reuses its command', () => {
    const next = commandsFrom('c');
    const { state } = pressed(edited(emptyCompose, 'hello', next), next);
    const refused = settled(state, 'c1', { refused: 'timeout' });
    expect(pressed(edited(refused, 'hello!', next), next).press).toEqual({ command: 'c2', text: 'hello!' });
  });

  test('an answer to another press changes nothing', () => {
    const next = commandsFrom('c');
    const { state } = pressed(edited(emptyCompose, 'hello', next), next);
    expect(settled(state, 'other', undefined)).toBe(state);
  });

  test('nothing visible is never sent', () => {
    const next = commandsFrom('c');
    for (const text of ['', '  \n', '\u200b\u2060', '\u3164']) {
      expect(pressed(edited(emptyCompose, text, next), next).press).toBeUndefined();
    }
  });

  test('a stored draft read late stands before what was typed, once, and never comes back after a send', () => {
    const next = commandsFrom('c');
    const typed = edited(emptyCompose, 'typed', next);
    const merged = drafted(typed, 'stored', next);
    expect(merged.text).toBe('stored\ntyped');
    expect(drafted(merged, 'stored', next)).toBe(merged);
    const sent = settled(pressed(edited(emptyCompose, 'sent', next), next).state, 'c2', undefined);
    expect(drafted(sent, 'sent', next).text).toBe('');
  });

  test('no series of edits, presses and answers sends one command with two texts or loses text', () => {
    const step = fc.oneof(
      fc.record({ does: fc.constant('edit' as const), text: fc.string({ maxLength: 6 }) }),
      fc.record({ does: fc.constant('press' as const) }),
      fc.record({ does: fc.constant('stored' as const) }),
      fc.record({ does: fc.constant('refused' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const next = commandsFrom('c');
        const sent = new Map<string, string>();
        let state: Compose = emptyCompose;
        let committed: string[] = [];
        for (const one of steps) {
          if (one.does === 'edit') state = edited(state, one.text, next);
          if (one.does === 'press') {
            const result = pressed(state, next);
            state = result.state;
            if (!result.press) continue;
            const before = sent.get(result.press.command);
            expect(before === undefined || before === result.press.text).toBe(true);
            expect(committed).not.toContain(result.press.command);
            sent.set(result.press.command, result.press.text);
          }
          if (!state.storing) continue;
          const { command } = state.storing;
          if (one.does === 'stored') {
            state = settled(state, command, undefined);
            committed = [...committed, command];
          }
          if (one.does === 'refused') {
            const { text } = state;
            state = settled(state, command, { refused: 'storage' });
            expect(state.text).toBe(text);
          }
        }
        expect(sent.size).toBeGreaterThanOrEqual(committed.length);
      }),
      { numRuns: 500 },
    );
  });
});

describe('keys in the message field', () => {
  test('Enter sends by the rule, Shift+Enter never, Ctrl and Cmd with Enter always', () => {
    expect(keyMeans(enter, true)).toBe('send');
    expect(keyMeans(enter, false)).toBe('field');
    expect(keyMeans({ ...enter, shiftKey: true }, true)).toBe('field');
    expect(keyMeans({ ...enter, ctrlKey: true }, false)).toBe('send');
    expect(keyMeans({ ...enter, metaKey: true }, false)).toBe('send');
    expect(keyMeans({ ...enter, key: 'a' }, true)).toBe('field');
  });

  test('an Enter that confirms a word of an input method never sends', () => {
    expect(keyMeans({ ...enter, isComposing: true }, true)).toBe('field');
    expect(keyMeans({ ...enter, keyCode: 229 }, true)).toBe('field');
    expect(keyMeans({ ...enter, key: 'Process' }, true)).toBe('field');
  });

  test('a held Enter sends once and makes no lines', () => {
    expect(keyMeans({ ...enter, repeat: true }, true)).toBe('swallow');
    expect(keyMeans({ ...enter, repeat: true }, false)).toBe('field');
  });
});
