import type { ConformanceCase } from './case.js';
import { inWords } from './expectations.js';
import { RULES } from './rules.js';

/** What was being done when a case failed: a store that cannot be opened says nothing about the driver's rules. */
export type Stage = 'open' | 'run' | 'close';

const STAGES: Readonly<Record<Stage, (sentence: string) => string>> = {
  open: (sentence) => `The harness could not open a store, so this was not tried: ${sentence}.`,
  run: (sentence) => `Not true of this driver: ${sentence}.`,
  close: (sentence) => `The harness could not close its store after a case that was all right: ${sentence}.`,
};

/** How what was expected is told, by the assertion that failed; what others say is told in their own words. */
const EXPECTATIONS: Readonly<Record<string, string>> = {
  strictEqual: 'should be',
  deepStrictEqual: 'should be',
  notStrictEqual: 'should not be',
  match: 'should match',
  doesNotMatch: 'should not match',
};

/** What Node appends to a message: a comparison that does not say which side is whose. */
const COMPARISON = /\n\n|\n\+ actual - expected/;

/** A driver that does not conform: which case found it, what was seen instead, and what the rule is. */
export class ConformanceFailure extends Error {
  override readonly name = 'ConformanceFailure';
  readonly caseId: string;
  /** For runners that show a difference. */
  readonly actual: unknown;
  readonly expected: unknown;

  constructor(one: ConformanceCase, cause: unknown, stage: Stage = 'run') {
    const seen = isRecord(cause) ? cause : {};
    // An assertion is told in full, and would be shown twice; an error of the driver's is shown as it is.
    super(messageOf(one, seen, stage, cause), seen.code === 'ERR_ASSERTION' ? undefined : { cause });
    this.caseId = one.id;
    this.actual = seen.actual;
    this.expected = seen.expected;
    // So that runners show the line of the case that failed, not the one that made this error.
    if (typeof seen.stack === 'string') this.stack = `${this.name}: ${this.message}\n${framesOf(seen.stack)}`;
  }
}

function messageOf(one: ConformanceCase, seen: Seen, stage: Stage, cause: unknown): string {
  const rule = `Rule ${one.rule} (docs/protocol.md#${one.rule}): ${RULES[one.rule]}`;
  return [STAGES[stage](one.name), ...whatWasSeen(seen, cause), rule, `Case ${one.id}`].join('\n');
}

function whatWasSeen(seen: Seen, cause: unknown): string[] {
  // Not instanceof: under jest an AssertionError is of another realm.
  const message = typeof seen.message === 'string' ? seen.message : inWords(cause);
  const verb = EXPECTATIONS[String(seen.operator)];
  if (verb === undefined) return [seen.code === 'ERR_ASSERTION' ? message : `It threw ${inWords(cause)}`];
  const what = seen.generatedMessage === true ? [] : [message.split(COMPARISON)[0] ?? ''];
  return [...what, `  ${verb}: ${inWords(seen.expected)}`, `  ${'was'.padStart(verb.length)}: ${inWords(seen.actual)}`];
}

function framesOf(stack: string): string {
  return stack.slice(Math.max(0, stack.search(/^ +at /m)));
}

type Seen = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Seen {
  return typeof value === 'object' && value !== null;
}
