import { useUi } from '../context';
import { faceOf, type MarkFace, markLine, markName, ticks } from '../mark';
import type { MarkView } from '../model';
import { MarkGlyph } from './icons';

/** The face of a mark now. It follows the clock only while it can still change with it. */
export function useFace(mark: MarkView): {
  readonly face: MarkFace;
  readonly now: number;
  readonly kept: boolean;
} {
  const { now, snapshot } = useUi();
  const { kept } = snapshot.value;
  const moment = ticks(mark, now.peek()) ? now.value : now.peek();
  return { face: faceOf(mark, moment, kept), now: moment, kept };
}

/**
 * The delivery state of an own message: the same component in row, list and inspector. With `onOpen` it is a button
 * that leads to the details; without, it is words with a shape.
 */
export function Mark({ mark, words, onOpen }: { mark: MarkView; words: boolean; onOpen?: () => void }) {
  const { texts, format } = useUi();
  const { face, now } = useFace(mark);
  const name = markName(mark, face, now, texts, format);
  const content = (
    <>
      <MarkGlyph shape={face.shape} />
      {words && <span class="mark-words">{markLine(mark, face, now, texts, format)}</span>}
    </>
  );
  if (!onOpen) {
    return (
      <span class="mark" data-word={face.word} role="img" aria-label={name}>
        {content}
      </span>
    );
  }
  return (
    <button
      type="button"
      class="mark"
      data-word={face.word}
      aria-label={`${name}. ${texts.details}`}
      title={texts.mark[face.word]}
      onClick={onOpen}
    >
      {content}
    </button>
  );
}
