import type { EventId, Slot } from '../ids';
import { limits } from '../limits';
import type { Question } from './messages';

/** Which kind of answer a question expects. */
export type AnswerKind = Question['ask'];

interface Outstanding {
  readonly question: Question;
  readonly until: number;
}

/**
 * The questions of one session. The wire has no request ids, so one of a kind is outstanding at a time and the others
 * wait; an answer belongs to the one question of its kind or to none (formats.md 3.2).
 */
export interface Questions {
  readonly asked: Readonly<Partial<Record<AnswerKind, Outstanding>>>;
  readonly waiting: readonly Question[];
}

/** No questions yet. */
export const noQuestions: Questions = { asked: {}, waiting: [] };

/** A question is asked now or waits its turn; `undefined` when too many wait already. */
export function enqueueQuestion(
  questions: Questions,
  question: Question,
  now: number,
): { readonly questions: Questions; readonly ask?: Question } | undefined {
  if (questions.asked[question.ask] === undefined) return askNow(questions, question, now);
  if (questions.waiting.length >= limits.waitingRequestsMax) return undefined;
  return {
    questions: { ...questions, waiting: [...questions.waiting, question] },
  };
}

/** The question of a kind is answered: the next of that kind is asked. */
export function settleQuestion(
  questions: Questions,
  kind: AnswerKind,
  now: number,
): { readonly questions: Questions; readonly ask?: Question } {
  const { [kind]: _, ...asked } = questions.asked;
  const next = questions.waiting.find((one) => one.ask === kind);
  if (next === undefined) return { questions: { ...questions, asked } };
  const waiting = questions.waiting.filter((one) => one !== next);
  return askNow({ asked, waiting }, next, now);
}

/** When the first outstanding question is late; infinity for none. */
export function questionsDue(questions: Questions): number {
  return Math.min(...Object.values(questions.asked).map((one) => one.until), Number.POSITIVE_INFINITY);
}

/** The slot an answer of a kind would be about, and its tag, if one of that kind was asked. */
export function askedOf(
  questions: Questions,
  kind: 'tips' | 'headers',
): { readonly tag: string; readonly slot: Slot } | undefined {
  const question = questions.asked[kind]?.question;
  return question === undefined || question.ask === 'events' ? undefined : question;
}

/** The tag of the question for events, if all of `ids` were asked and none is given twice. */
export function askedEvents(questions: Questions, ids: readonly EventId[]): string | undefined {
  const question = questions.asked.events?.question;
  if (question?.ask !== 'events') return undefined;
  const asked = new Set(question.ids);
  const fits = new Set(ids).size === ids.length && ids.every((id) => asked.has(id));
  return fits ? question.tag : undefined;
}

function askNow(
  questions: Questions,
  question: Question,
  now: number,
): { readonly questions: Questions; readonly ask: Question } {
  const outstanding: Outstanding = { question, until: now + limits.requestMs };
  return {
    questions: {
      ...questions,
      asked: { ...questions.asked, [question.ask]: outstanding },
    },
    ask: question,
  };
}
