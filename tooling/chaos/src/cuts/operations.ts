import type { QueueReports, ReservedJob } from '@q/core';
import type { FinalState } from '../checker.js';
import { JOB, QUEUE } from '../jobs.js';
import type { ChaosDriver, Client } from '../stores/client.js';

/** What a cut operation is asked about afterwards. */
interface Aftermath {
  /** What it resolved to, or what it rejected with. */
  readonly result: { readonly value: unknown } | { readonly error: unknown };
  readonly state: FinalState;
  /** A client that goes round the relay. */
  readonly client: Client;
  readonly claim: ReservedJob;
}

export interface Operation {
  readonly name: string;
  readonly needs: 'nothing' | 'transactions' | 'reports';
  /** What is there before. */
  readonly before: 'nothing' | 'a job' | 'a claim' | 'failed jobs';
  /** What is cut. */
  run(client: Client, claim: ReservedJob): Promise<unknown>;
  /** What is wrong afterwards: sentences, none where all is well. May go on using the store. */
  verify(after: Aftermath): Promise<readonly string[]>;
}

export const PUSH = 'the-push';

export const aJob = (push: string) => ({
  name: JOB,
  payload: { push },
  delay: 0,
  queue: QUEUE,
  priority: 0,
  unique: null,
  maxAttempts: 3,
});

export const OPERATIONS: readonly Operation[] = [
  {
    name: 'push',
    needs: 'nothing',
    before: 'nothing',
    run: ({ driver }) => driver.push(aJob(PUSH)),
    verify: async (after) => verifyPushed(after),
  },
  {
    name: 'pushMany',
    needs: 'nothing',
    before: 'nothing',
    run: ({ driver }) => driver.pushMany([aJob(PUSH), aJob(PUSH)]),
    verify: async (after) => verifyPushed(after, 2),
  },
  {
    name: 'push in a transaction',
    needs: 'transactions',
    before: 'nothing',
    run: (client) => inTransaction(client, (open) => open.jobs.push(aJob(PUSH))),
    async verify(after) {
      const isThere = after.state.jobs.length > 0;
      const hasEffect = after.state.effects?.get(PUSH) === 1;
      return [...verifyPushed(after), ...found(isThere !== hasEffect, 'only one of the job and its row is there')];
    },
  },
  {
    name: 'claim',
    needs: 'nothing',
    before: 'a job',
    run: ({ driver }) => driver.reserve([QUEUE], 60, 'cut'),
    async verify({ result, state, client }) {
      const again = await client.driver.reserve([QUEUE], 60, 'next');
      const isRefused = 'error' in result && !client.admitsDoubt(result.error);
      return [
        ...found(state.jobs.length !== 1, `${state.jobs.length} jobs are there`),
        ...found('value' in result && again !== null, 'a job that was handed out is handed out again'),
        ...found(isRefused && again === null, 'it says that it did nothing, and it has claimed'),
        ...found('error' in result && again !== null && again.attempts !== 1, 'an attempt was charged without a claim'),
      ];
    },
  },
  {
    name: 'delete',
    needs: 'nothing',
    before: 'a claim',
    run: ({ driver }, claim) => driver.delete(claim),
    async verify(after) {
      const isThere = after.state.jobs.length === 1;
      return [
        ...verifyTruth(after, isThere ? 'nothing' : 'acted'),
        ...found(
          (await after.client.driver.delete(after.claim)) !== isThere,
          'the repeated call is not told the truth',
        ),
      ];
    },
  },
  {
    name: 'release',
    needs: 'nothing',
    before: 'a claim',
    run: ({ driver }, claim) => driver.release(claim, 0, 'cut'),
    async verify(after) {
      const isHeld = await after.client.driver.release(after.claim, 0, 'again');
      const next = await after.client.driver.reserve([QUEUE], 60, 'next');
      return [
        ...verifyTruth(after, isHeld ? 'nothing' : 'acted'),
        ...found(next?.attempts !== 2 || next.reclaimed, 'the job is not back as a released one'),
      ];
    },
  },
  {
    name: 'fail',
    needs: 'nothing',
    before: 'a claim',
    run: ({ driver }, claim) => driver.fail(claim, 'cut'),
    async verify(after) {
      const { jobs, failed } = after.state;
      const isThere = jobs.length === 1;
      return [
        ...found(
          jobs.length + failed.length !== 1,
          `it is ${jobs.length} times a job and ${failed.length} times failed`,
        ),
        ...verifyTruth(after, isThere ? 'nothing' : 'acted'),
        ...found(
          (await after.client.driver.fail(after.claim, 'x')) !== isThere,
          'the repeated call is not told the truth',
        ),
      ];
    },
  },
  {
    name: 'retryFailed',
    needs: 'reports',
    before: 'failed jobs',
    run: ({ driver }) => reportsOf(driver).retryFailed('all', 3),
    async verify({ result, state, client }) {
      const { jobs, failed } = state;
      const isDone = 'value' in result;
      const retried = await reportsOf(client.driver).retryFailed('all', 3);
      return [
        ...found(jobs.length + failed.length !== 3, `of 3 there are ${jobs.length} and, failed, ${failed.length}`),
        ...found(isDone && failed.length > 0, 'it says that it is done, and is not'),
        ...found(retried !== failed.length, 'the repeated call does not do the rest'),
      ];
    },
  },
  {
    name: 'complete',
    needs: 'transactions',
    before: 'a claim',
    run: (client, claim) =>
      inTransaction(client, async ({ jobs }) => {
        if (!(await jobs.delete(claim))) throw new Error('the claim is gone');
      }),
    async verify(after) {
      const isThere = after.state.jobs.length === 1;
      const hasEffect = after.state.effects?.get(PUSH) === 1;
      return [
        ...found(isThere === hasEffect, 'the effect and the job are both there, or both gone'),
        ...found('value' in after.result && isThere, 'it says that it has committed, and it has not'),
        ...found((await after.client.driver.release(after.claim, 0, '')) !== isThere, 'the fence does not tell which'),
      ];
    },
  },
];

async function inTransaction(
  { transactions }: Client,
  work: (open: Awaited<ReturnType<NonNullable<Client['transactions']>['begin']>>) => Promise<unknown>,
): Promise<unknown> {
  if (transactions === null) throw new Error('this store has no transactions');
  const open = await transactions.begin();
  try {
    await open.leaveEffect(PUSH);
    const answer = await work(open);
    await open.commit();
    return answer;
  } catch (error) {
    await open.rollback();
    throw error;
  }
}

function verifyPushed({ result, state, client }: Aftermath, count = 1): string[] {
  const there = state.jobs.length;
  return [
    ...found(there !== 0 && there !== count, `${there} jobs are there`),
    ...found('value' in result && there === 0, 'it was acknowledged, and is not there'),
    ...found('error' in result && !client.admitsDoubt(result.error) && there > 0, 'it was refused, and is there'),
  ];
}

function verifyTruth({ result, client }: Aftermath, what: 'acted' | 'nothing'): string[] {
  if ('error' in result)
    return found(what === 'acted' && !client.admitsDoubt(result.error), 'it was refused, and acted');
  return found(result.value !== (what === 'acted'), `it resolved to ${result.value}`);
}

function found(isWrong: boolean, what: string): string[] {
  return isWrong ? [what] : [];
}

function reportsOf(driver: ChaosDriver): QueueReports {
  // The cast: asked only of drivers that have reports.
  return driver as ChaosDriver & QueueReports;
}
