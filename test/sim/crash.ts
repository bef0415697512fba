import { writes } from '../../src/core/transactions/registry';
import { commands } from '../../src/core/wire/commands';

/** A crash to come: at the nth visit of a named point, whichever realm gets there. */
export interface CrashPlan {
  readonly point: string;
  /** 1 for the first visit. */
  readonly nth: number;
}

const frameKinds = Object.values(commands).map(kindOf);

/** Every point there is, computed: a transaction or a frame that is added cannot arrive untested. */
export const crashPoints: readonly string[] = [
  ...Object.keys(writes).flatMap((name) => [`${name}/commit:before`, `${name}/commit:after`]),
  ...frameKinds.flatMap((kind) => [`${kind}/send:before`, `${kind}/send:after`, `${kind}/receive:before`]),
];

/** The last part of a command: how a frame is called in points and traces. */
export function kindOf(command: string): string {
  return command.slice(command.lastIndexOf(':') + 1);
}

/** Counts visits of the named points and lets the planned crashes happen there. */
export class Crashes {
  readonly visits = new Map<string, number>();
  /** Points at which a realm really crashed. */
  readonly fired = new Set<string>();
  count = 0;
  readonly #plans: CrashPlan[] = [];

  constructor(private readonly happened: (point: string) => void) {}

  arm(plan: CrashPlan): void {
    this.#plans.push({ point: plan.point, nth: (this.visits.get(plan.point) ?? 0) + plan.nth });
  }

  disarm(): void {
    this.#plans.length = 0;
  }

  /** A realm is at a point; true when it crashed there, and then nothing more of it may happen. */
  at(point: string, die: () => void): boolean {
    const visit = (this.visits.get(point) ?? 0) + 1;
    this.visits.set(point, visit);
    const planned = this.#plans.findIndex((plan) => plan.point === point && plan.nth === visit);
    if (planned < 0) return false;
    this.#plans.splice(planned, 1);
    this.fired.add(point);
    this.count += 1;
    this.happened(point);
    die();
    return true;
  }
}
