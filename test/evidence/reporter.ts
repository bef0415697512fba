import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

/** One line of test-results/tests.jsonl: what one test case did in one run. */
export interface TestLine {
  project: string;
  /** Where it ran, as requirements.tsv names it: the project's name up to the first dash. */
  place: string;
  file: string;
  /** Names of its suites and its own, joined by ` > `. */
  title: string;
  state: 'passed' | 'failed' | 'skipped' | 'pending';
  /** Marked as expected to fail: passing then proves nothing. */
  fails: boolean;
  mode: string;
  retries: number;
  ms: number;
}

/** Title of a line that stands for something outside a test case: a file that did not load, a hook that threw. */
export const outsideTitle = '(outside a test case)';

/**
 * Appends one line a finished test case to `file` (several runs share it; the caller clears it). What fails outside a
 * test case is a failed line too, so that a file that does not load is never silence.
 */
export class EvidenceReporter implements Reporter {
  readonly #file: string;
  readonly #root: string;

  constructor(options: { file: string; root: string }) {
    this.#file = resolve(options.root, options.file);
    this.#root = options.root;
  }

  onTestCaseResult(test: TestCase): void {
    const diagnostic = test.diagnostic();
    this.#write(test.module, {
      title: test.fullName,
      state: test.result().state,
      fails: test.options.fails === true,
      mode: test.options.mode,
      retries: diagnostic?.retryCount ?? 0,
      ms: Math.round(diagnostic?.duration ?? 0),
    });
  }

  onTestModuleEnd(module: TestModule): void {
    if (module.errors().length > 0) this.#writeOutside(module);
  }

  onTestSuiteResult(suite: TestSuite): void {
    if (suite.errors().length > 0) this.#writeOutside(suite.module);
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const module = modules[0];
    if (errors.length > 0 && module) this.#writeOutside(module);
  }

  #writeOutside(module: TestModule): void {
    this.#write(module, {
      title: outsideTitle,
      state: 'failed',
      fails: false,
      mode: 'run',
      retries: 0,
      ms: 0,
    });
  }

  #write(module: TestModule, rest: Omit<TestLine, 'project' | 'place' | 'file'>): void {
    const project = module.project.name;
    const line: TestLine = {
      project,
      place: project.split('-')[0] ?? project,
      file: relative(this.#root, module.moduleId),
      ...rest,
    };
    mkdirSync(dirname(this.#file), { recursive: true });
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}
