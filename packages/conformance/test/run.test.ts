import { describe, expect, it } from 'vitest';
import { CASES, type CaseResult, type ConformanceCase, type Harness, RULES, runConformance } from '../src/index.js';
import { referenceHarness } from './reference-harness.js';

const DEADLINE = caseOf('claims/deadline-equal-to-now');
const STATS = caseOf('stats/by-queue');

describe('runConformance', () => {
  it('gives what came of each case, in order, and tells it as it is known', async () => {
    const told: CaseResult[] = [];
    const harness: Harness = { ...referenceHarness(), abilities: [] };
    const results = await runConformance(harness, { cases: [DEADLINE, STATS], onCase: (result) => told.push(result) });
    expect(told).toEqual(results);
    expect(results).toEqual([
      { case: DEADLINE, outcome: 'passed', elapsedMs: expect.any(Number) },
      { case: STATS, outcome: 'skipped', why: 'needs reports, which the driver does not promise', elapsedMs: 0 },
    ]);
  });

  it('says what was expected, of which rule, and what was seen instead', async () => {
    const failing = { ...DEADLINE, run: async () => expect(1, 'attempts').toBe(2) };
    const [result] = await runConformance(referenceHarness(), { cases: [failing] });
    if (result?.outcome !== 'failed') return expect.unreachable();
    const { message, caseId, actual, expected } = result.error;
    expect({ caseId, actual, expected }).toEqual({ caseId: DEADLINE.id, actual: 1, expected: 2 });
    expect(message.split('\n').at(0)).toBe(`${DEADLINE.name}: not so.`);
    expect(message.split('\n').at(1)).toMatch(/^attempts: /);
    expect(message.split('\n').at(-1)).toBe(
      `Case ${DEADLINE.id}; rule docs/protocol.md#claim-expires: ${RULES['claim-expires']}`,
    );
  });

  it('tells a store that cannot be opened or closed as a failure of the case', async () => {
    const closed: Harness = { abilities: [], open: () => Promise.reject(new Error('connection refused')) };
    const stuck: Harness = {
      abilities: [],
      open: async (options) => ({
        ...(await referenceHarness().open(options)),
        close: () => Promise.reject(new Error('cannot close')),
      }),
    };
    for (const [harness, why] of [
      [closed, 'connection refused'],
      [stuck, 'cannot close'],
    ] as const) {
      const [result] = await runConformance(harness, { cases: [DEADLINE] });
      expect(result?.outcome === 'failed' && result.error.message).toContain(why);
    }
  });

  it('rolls back the transactions that a failed case has left open', async () => {
    const harness = referenceHarness();
    const ended: string[] = [];
    const watching: Harness = {
      ...harness,
      open: async (options) => {
        const store = await harness.open(options);
        const begin = async () => {
          const transaction = await store.begin?.();
          if (transaction === undefined) throw new Error('no transaction');
          return {
            ...transaction,
            note: () => Promise.reject(new Error('lost')),
            rollback: async () => void ended.push('rollback'),
          };
        };
        return { ...store, begin };
      },
    };
    const [result] = await runConformance(watching, { cases: [caseOf('transactions/push-commits')] });
    expect(result?.outcome).toBe('failed');
    expect(ended).toEqual(['rollback']);
  });
});

describe('the table of cases', () => {
  it('has stable ids of a topic and a name, each once', () => {
    const ids = CASES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z]+(-[a-z]+)*\/[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([]);
  });

  it('has names that are sentences, each once', () => {
    const names = CASES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[A-Z]/.test(name) || /\bshould\b|\.$/.test(name))).toEqual([]);
  });

  it('has a case for every rule', () => {
    const checked = new Set<string>(CASES.map(({ rule }) => rule));
    expect(Object.keys(RULES).filter((rule) => !checked.has(rule))).toEqual([]);
  });
});

function caseOf(id: string): ConformanceCase {
  const one = CASES.find((candidate) => candidate.id === id);
  if (one === undefined) throw new Error(`there is no case ${id}`);
  return one;
}
