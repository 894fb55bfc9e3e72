import type { ConformanceCase } from './case.js';
import { RULES } from './rules.js';

/** A driver that does not conform: which case found it, what the rule is, and what was seen instead (`cause`). */
export class ConformanceFailure extends Error {
  override readonly name = 'ConformanceFailure';
  readonly caseId: string;
  /** For runners that show a difference. */
  readonly actual: unknown;
  readonly expected: unknown;

  constructor(one: ConformanceCase, cause: unknown) {
    super(messageOf(one, cause), { cause });
    this.caseId = one.id;
    const seen = isRecord(cause) ? cause : {};
    this.actual = seen.actual;
    this.expected = seen.expected;
  }
}

function messageOf(one: ConformanceCase, cause: unknown): string {
  // Not instanceof: under jest an AssertionError is of another realm.
  const found = isRecord(cause) && typeof cause.message === 'string' ? cause.message : String(cause);
  return `${one.name}: not so.\n${found}\nCase ${one.id}; rule docs/protocol.md#${one.rule}: ${RULES[one.rule]}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
