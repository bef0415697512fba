import { describe, expect, test } from 'vitest';
import type { HoldReason, MarkView, Snapshot } from '../../src/ui/model';
import { en } from '../../src/ui/texts/en';
import { emptyTalk, mount, painted, talkHash, talkOf } from './ui-mount';
import { harbour, mark, now, ownMessage } from './ui-states';

const removal = /remov|delet|discard|\bdropped\b|\blost\b|\bgone\b|fail|expire|gave up|cancel/i;
const reasons = Object.keys(en.reason) as HoldReason[];

/** A head on hold with three messages behind it, seen in its row, the list, the strip and its details. */
function blocked(view: MarkView): Snapshot {
  const shown = emptyTalk();
  return {
    ...shown,
    conversations: shown.conversations.slice(0, 1).map((one) => ({ ...one, mark: view })),
    timeline: { ...talkOf(shown), messages: [ownMessage(1, 'hello', now, view)] },
    queue: {
      ...shown.queue,
      waiting: 4,
      head: { conversation: harbour, name: '#harbour', mark: view, seq: 1 },
    },
  };
}

describe('a blocked send', () => {
  test.each(reasons)(
    '[OB-29] on hold (%s): message and text stay in sight, and no word of the screen implies that it was removed',
    async (reason) => {
      const acts: string[] = [];
      const view = mark('on-hold', { reason, place: 1, holds: 3, copies: 1 });
      const { root, snapshot } = await mount(blocked(view), `${talkHash}/m/1`, {
        drop: async () => {
          acts.push('drop');
          return { exposed: true };
        },
        forgetDropped: () => void acts.push('forget'),
        inspect: async () => ({ mark: view, text: 'hello', facts: [{ at: now, what: 'busy' }] }),
      });
      await expect.poll(() => document.querySelector('.fact-list')).not.toBeNull();
      const said = () => {
        const names = [...root.querySelectorAll('[aria-label]')].map((one) => one.getAttribute('aria-label'));
        return [root.textContent, ...names].join('\n');
      };
      expect(said()).not.toMatch(removal);
      expect(root.querySelector('dialog')?.textContent).toContain(en.inspectStays);
      expect(root.querySelector('dialog')?.textContent).toContain(en.why[reason]);
      for (const place of ['article .mark', 'nav .mark', '.strip', 'dialog .mark'])
        expect(root.querySelector(place)?.textContent ?? '').toContain(en.reason[reason]);
      expect(root.querySelector('article .mark')?.textContent).toContain('3 wait behind this');
      snapshot.value = { ...blocked(view), now: now + 3_600_000 };
      await painted();
      expect(root.querySelector('article .bubble')?.textContent).toBe('hello');
      expect(said()).not.toMatch(removal);
      expect(acts).toEqual([]);
    },
  );
});
