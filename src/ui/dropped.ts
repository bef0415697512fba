import { effect } from '@preact/signals';
import type { Ui } from './context';
import { leavesNothing, undoable } from './hand';

/** Has dropped messages forgotten once their drop is final, when nothing of them had left; each is asked for once. */
export function forgetFinal({ snapshot, now, commands }: Ui): () => void {
  const asked = new Set<string>();
  return effect(() => {
    const { timeline } = snapshot.value;
    const dropped = timeline?.messages.filter(({ mark }) => leavesNothing(mark)) ?? [];
    if (!timeline || dropped.length === 0) return;
    const moment = now.value;
    for (const { seq, mark } of dropped) {
      const key = `${timeline.conversation} ${seq} ${mark?.droppedAt}`;
      if (!mark || undoable(mark, moment) || asked.has(key)) continue;
      asked.add(key);
      commands.forgetDropped(timeline.conversation, seq);
    }
  });
}
