import { describe, expect, it } from 'vitest';
import { check, type FinalState, type Rule } from '../src/checker.js';
import type { Entry, LedgerRecord } from '../src/ledger.js';

const EMPTY: FinalState = { jobs: [], failed: [], effects: new Map() };

/** A ledger with one record a second, unless a record says when. */
function ledger(...entries: readonly (Entry & { readonly atMs?: number })[]): LedgerRecord[] {
  return entries.map((entry, index) => ({ pid: 1, wallMs: 0, atMs: index * 1000, ...entry }));
}

const pushing = (push: string, unique: string | null = null) =>
  ({ what: 'pushing', push, mode: 'plain', unique, maxAttempts: 2 }) as const;
const pushed = (push: string, id: number) => ({ what: 'pushed', push, id }) as const;
const claimed = (push: string, id: number, attempts: number, askedMs: number) =>
  ({ what: 'claimed', push, id, attempts, askedMs, seconds: 60 }) as const;
const started = (push: string, id: number, attempts: number) =>
  ({ what: 'started', push, id, attempts, maxAttempts: 2 }) as const;
const ended = (id: number, attempts: number, how: 'returned' | 'thrown' = 'returned') =>
  ({ what: 'ended', id, attempts, how }) as const;
const closing = (id: number, attempts: number, by: 'delete' | 'complete' | 'release' | 'fail') =>
  ({ what: 'closing', id, attempts, by }) as const;
const closed = (id: number, attempts: number, by: 'delete' | 'release' | 'fail', acted = true) =>
  ({ what: 'closed', id, attempts, by, acted }) as const;

/** Job 1, pushed as `a`, with everything as it should be. */
const DONE = [
  pushing('a'),
  pushed('a', 1),
  claimed('a', 1, 1, 1900),
  started('a', 1, 1),
  ended(1, 1),
  closing(1, 1, 'delete'),
  closed(1, 1, 'delete'),
];
const FAILED = [
  ...DONE.slice(0, 4),
  ended(1, 1, 'thrown'),
  closing(1, 1, 'release'),
  closed(1, 1, 'release'),
  claimed('a', 1, 2, 6900),
  started('a', 1, 2),
  ended(1, 2, 'thrown'),
  closing(1, 2, 'fail'),
  closed(1, 2, 'fail'),
];

const isFound = (rule: Rule, why: string, records: readonly LedgerRecord[], state: FinalState = EMPTY) => {
  const violations = check(records, state);
  expect(violations.map((each) => each.rule)).toContain(rule);
  expect(violations.map((each) => each.why)).toContain(why);
};

describe('the checker', () => {
  it('finds nothing where every job was done, or failed at its last attempt', () => {
    expect(check(ledger(...DONE), EMPTY)).toEqual([]);
    expect(check(ledger(...FAILED), { ...EMPTY, failed: [{ push: 'a' }] })).toEqual([]);
  });

  it('believes a process that died before it heard that its deletion had acted', () => {
    expect(check(ledger(...DONE.slice(0, -1)), EMPTY)).toEqual([]);
  });

  it('believes a push that nobody knows of, whether its job ran or not', () => {
    const unknown = { what: 'push_unknown', push: 'a', error: 'ECONNRESET' } as const;
    expect(check(ledger(pushing('a'), unknown), EMPTY)).toEqual([]);
    expect(check(ledger(pushing('a'), unknown, ...DONE.slice(2)), EMPTY)).toEqual([]);
  });

  it('lets a claim be taken over when its deadline has passed', () => {
    const takeover = { ...claimed('a', 1, 2, 62_000), atMs: 62_100 };
    const restarted = { ...started('a', 1, 2), atMs: 62_200 };
    const finished = [ended(1, 2), closing(1, 2, 'delete')].map((each) => ({ ...each, atMs: 62_300 }));
    expect(check(ledger(...DONE.slice(0, 4), takeover, restarted, ...finished), EMPTY)).toEqual([]);
  });

  it('lets a job that was released run again, however often it has', () => {
    const again = [1, 2, 3, 4].flatMap((n) => [
      claimed('a', 1, n, n * 4000),
      started('a', 1, n),
      ended(1, n),
      closing(1, n, n === 4 ? 'delete' : 'release'),
    ]);
    expect(check(ledger(pushing('a'), pushed('a', 1), ...again), EMPTY)).toEqual([]);
  });

  it('leaves out the rules that a storm waives', () => {
    expect(check(ledger(pushing('a'), pushed('a', 1)), EMPTY, ['lost_or_doubled'])).toEqual([]);
  });

  it('finds an acknowledged push that is neither done nor failed', () => {
    const why = 'job 1 was acknowledged, and is neither done nor failed';
    isFound('lost_or_doubled', why, ledger(pushing('a'), pushed('a', 1)));
    isFound('lost_or_doubled', why, ledger(...DONE.slice(0, 4)));
    const thrown = [...DONE.slice(0, 4), ended(1, 1, 'thrown'), closing(1, 1, 'delete')];
    isFound('lost_or_doubled', why, ledger(...thrown));
  });

  it('finds a job that vanished in a transaction that was rolled back', () => {
    const completing = [...DONE.slice(0, 4), closing(1, 1, 'complete'), ended(1, 1, 'thrown')];
    isFound('lost_or_doubled', 'job 1 was acknowledged, and is neither done nor failed', ledger(...completing));
    expect(check(ledger(...completing), { ...EMPTY, effects: new Map([['a', 1]]) })).toEqual([]);
  });

  it('finds a job that is done and failed', () => {
    const failing = [closing(1, 1, 'fail'), closed(1, 1, 'fail')];
    const why = 'job 1 is done and failed';
    isFound('lost_or_doubled', why, ledger(...DONE, ...failing), { ...EMPTY, failed: [{ push: 'a' }] });
  });

  it('finds a push that was answered with the id of somebody else’s job', () => {
    const records = ledger(pushing('b'), pushed('b', 1), ...DONE);
    isFound('lost_or_doubled', 'its id, 1, is that of another job, a', records);
  });

  it('finds a push that was rolled back and ran, or is there', () => {
    const rolledBack = { what: 'not_pushed', push: 'a', error: 'rolled back' } as const;
    isFound('ran_unpushed', 'it was not pushed, and ran 1 times', ledger(pushing('a'), rolledBack, ...DONE.slice(2)));
    const there = { ...EMPTY, jobs: [{ id: 1, push: 'a', unique: null }] };
    isFound('ran_unpushed', 'it was not pushed, and is in the store', ledger(pushing('a'), rolledBack), there);
  });

  it('finds a handler that started while another claim was alive', () => {
    const second = [claimed('a', 1, 2, 6900), started('a', 1, 2)];
    const why = 'attempt 2 was started while the claim of 1 had 55900 ms to go';
    isFound('claims_overlapped', why, ledger(...DONE.slice(0, 4), ended(1, 1), ended(1, 1), ...second));
  });

  it('finds a handler that started when the deadline had passed, but the claim had been renewed', () => {
    const renewed = { what: 'extended', id: 1, attempts: 1, askedMs: 50_000, seconds: 60, atMs: 50_100 } as const;
    const second = [claimed('a', 1, 2, 69_900), started('a', 1, 2)].map((each) => ({ ...each, atMs: 70_000 }));
    const why = 'attempt 2 was started while the claim of 1 had 40000 ms to go';
    isFound('claims_overlapped', why, ledger(...DONE.slice(0, 4), renewed, ...second));
  });

  it('finds one attempt that was started twice', () => {
    isFound('claims_overlapped', 'attempt 1 was started twice', ledger(...DONE.slice(0, 4), ...DONE.slice(3)));
  });

  it('finds a handler that was started too often', () => {
    const third = [claimed('a', 1, 3, 10_000), started('a', 1, 3)];
    const records = ledger(...FAILED.slice(0, 10), ...third);
    isFound('started_too_often', 'attempt 3 of 2 was started', records);
  });

  it('finds a key that two jobs held at once', () => {
    const records = ledger(pushing('a', 'k'), pushed('a', 1), pushing('b', 'k'), pushed('b', 2), ...DONE.slice(2));
    isFound('key_held_twice', 'job 2 was given the key k while job 1 held it', records);
    const there = { ...EMPTY, jobs: [1, 2].map((id) => ({ id, push: 'a', unique: 'k' })) };
    isFound('key_held_twice', 'two jobs have k', ledger(), there);
  });

  it('lets a key be used again when the deletion of its holder was sent', () => {
    const holder = [pushing('a', 'k'), ...DONE.slice(1)];
    const second = DONE.slice(2).map((each) => ({ ...each, id: 2, push: 'b' }) as Entry);
    expect(check(ledger(...holder, pushing('b', 'k'), pushed('b', 2), ...second), EMPTY)).toEqual([]);
  });

  it('finds tables that the ledger knows nothing of', () => {
    const there = { ...EMPTY, jobs: [{ id: 1, push: 'a', unique: null }] };
    isFound('tables_disagree', 'job 1 is still there', ledger(pushing('a'), pushed('a', 1)), there);
    const failed = { ...EMPTY, failed: [{ push: 'a' }, { push: 'a' }] };
    isFound('tables_disagree', 'it failed twice', ledger(...FAILED), failed);
    isFound('tables_disagree', 'nobody pushed it', ledger(), failed);
    const kept = ledger(...DONE.slice(0, 4));
    isFound('tables_disagree', 'it is in the failed store, and nobody failed it', kept, failed);
    isFound('tables_disagree', 'it was failed, and is not in the failed store', ledger(...FAILED));
  });

  it('finds a completed job whose effect is there twice, or not at all', () => {
    const committed = { what: 'committed', id: 1, attempts: 1 } as const;
    const records = ledger(...DONE.slice(0, 4), closing(1, 1, 'complete'), committed, ended(1, 1));
    isFound('tables_disagree', 'it was completed 2 times', records, { ...EMPTY, effects: new Map([['a', 2]]) });
    isFound('tables_disagree', 'what it committed is not there', records);
  });
});
