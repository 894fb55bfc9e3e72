import { deepEqual, equal, fail, match, ok } from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import {
  CASES,
  type CaseResult,
  type ConformanceCase,
  type ConformanceFailure,
  type Harness,
  RULES,
  runConformance,
} from '../src/index.js';
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

  it('says what should be true, what was seen instead, and which rule it is about', async () => {
    const { message, caseId, actual, expected } = await failureOf(async () => equal(1, 2, 'attempts'));
    expect({ caseId, actual, expected }).toEqual({ caseId: DEADLINE.id, actual: 1, expected: 2 });
    expect(message.split('\n')).toEqual([
      `Not true of this driver: ${DEADLINE.name}.`,
      'attempts',
      '  should be: 2',
      '        was: 1',
      `Rule claim-expires (docs/protocol.md#claim-expires): ${RULES['claim-expires']}`,
      'Case claims/deadline-equal-to-now',
    ]);
  });

  it('says in its own words what an assertion of another kind has found, and cuts what is long', async () => {
    const found = async (run: () => unknown) =>
      (await failureOf(async () => void run())).message.split('\n').slice(1, -2);
    expect(await found(() => ok(false, 'a job is due'))).toEqual(['a job is due']);
    expect(await found(() => fail('no release'))).toEqual(['no release']);
    expect(await found(() => match('text', /x{2}/, 'the message'))).toEqual([
      'the message',
      '  should match: /x{2}/',
      '           was: "text"',
    ]);
    expect(await found(() => deepEqual([1, 2], [1, 3], 'the ids'))).toEqual([
      'the ids',
      '  should be: [1,3]',
      '        was: [1,2]',
    ]);
    expect(await found(() => deepEqual(['x'.repeat(1_000)], []))).toEqual([
      '  should be: []',
      `        was: ["${'x'.repeat(398)}… (1004 characters)`,
    ]);
  });

  it('shows an error of the driver’s as it is, and the line of the case that met it', async () => {
    const error = new Error('connection lost');
    const failure = await failureOf(() => Promise.reject(error));
    expect(failure.message.split('\n').at(1)).toBe('It threw Error: connection lost');
    expect(failure.cause).toBe(error);
    expect(failure.stack).toContain('run.test.ts');
    expect((await failureOf(async () => equal(1, 2))).cause).toBeUndefined();
  });

  it('tells a store that cannot be opened or closed as a fault of the harness, not of the driver', async () => {
    const closed: Harness = { abilities: [], open: () => Promise.reject(new Error('connection refused')) };
    const stuck: Harness = {
      abilities: [],
      open: async (options) => ({
        ...(await referenceHarness().open(options)),
        close: () => Promise.reject(new Error('cannot close')),
      }),
    };
    expect(await firstLines(closed)).toEqual([
      `The harness could not open a store, so this was not tried: ${DEADLINE.name}.`,
      'It threw Error: connection refused',
    ]);
    expect(await firstLines(stuck)).toEqual([
      `The harness could not close its store after a case that was all right: ${DEADLINE.name}.`,
      'It threw Error: cannot close',
    ]);
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

/** What comes of a case that does this. */
async function failureOf(run: () => Promise<void>): Promise<ConformanceFailure> {
  const [result] = await runConformance(referenceHarness(), { cases: [{ ...DEADLINE, run }] });
  if (result?.outcome !== 'failed') throw new Error('it did not fail');
  return result.error;
}

async function firstLines(harness: Harness): Promise<string[]> {
  const [result] = await runConformance(harness, { cases: [DEADLINE] });
  return result?.outcome === 'failed' ? result.error.message.split('\n').slice(0, 2) : [];
}

function caseOf(id: string): ConformanceCase {
  const one = CASES.find((candidate) => candidate.id === id);
  if (one === undefined) throw new Error(`there is no case ${id}`);
  return one;
}
