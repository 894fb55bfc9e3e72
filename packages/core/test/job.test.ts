import { describe, expect, it } from 'vitest';
import { ClaimLost, isQueueError, JobAborted, type ReservedJob } from '../src/index.js';
import { JobInHand } from '../src/job.js';
import { aReservedJob, refusal, rejection } from './fixtures.js';

/** A job in hand, and the transactions it was completed in. */
function aJob(reserved: Partial<ReservedJob> = {}, deleteWithin: (tx: unknown) => Promise<void> = async () => {}) {
  const completedIn: unknown[] = [];
  const job = new JobInHand(aReservedJob(reserved), (tx) => {
    completedIn.push(tx);
    return deleteWithin(tx);
  });
  return { job, completedIn };
}

const settled = (what: string) => ({
  code: 'job_settled',
  message: `Job 7 ("a-job") was ${what}. A handler either completes a job in its transaction or puts it back`,
});

describe('a job', () => {
  it('has eight properties of its own, and shows no more', () => {
    const { job } = aJob({ payload: { a: 1 }, payloadJson: '{"a":1}', handle: '1-0', attempts: 2, reclaimed: true });
    expect(Object.keys(job)).toEqual([
      'id',
      'queue',
      'name',
      'payload',
      'payloadJson',
      'attempts',
      'maxAttempts',
      'handle',
    ]);
    expect({ ...job }).toEqual({
      id: 7,
      queue: 'default',
      name: 'a-job',
      payload: { a: 1 },
      payloadJson: '{"a":1}',
      attempts: 2,
      maxAttempts: 3,
      handle: '1-0',
    });
    expect(JSON.parse(JSON.stringify(job))).toEqual({ ...job });
  });

  it('has just these after everything that can be done with it', async () => {
    const { job } = aJob();
    job.signal.addEventListener('abort', () => {});
    job.abort(new JobAborted('timeout', 'x'));
    await job.complete('tx');
    expect(Object.keys(job)).toHaveLength(8);
  });

  it('gives the very payload it was reserved with', () => {
    const payload = { a: 1 };
    expect(aJob({ payload }).job.payload).toBe(payload);
  });

  it('tells whether it was taken over', () => {
    expect(aJob({ reclaimed: true }).job.reclaimed).toBe(true);
    expect(aJob({ reclaimed: false }).job.reclaimed).toBe(false);
  });

  it.each([
    [1, 3, false],
    [2, 3, false],
    [3, 3, true],
    [4, 3, true],
    [1, 1, true],
  ])('at attempt %d of %d: is it the last? %s', (attempts, maxAttempts, isLast) => {
    expect(aJob({ attempts, maxAttempts }).job.isLastAttempt()).toBe(isLast);
  });
});

describe('release', () => {
  it('only notes the wish', () => {
    const { job } = aJob();
    expect([job.wasReleased(), job.wishes]).toEqual([false, { releaseDelay: null, completed: false }]);
    job.release(45);
    expect([job.wasReleased(), job.wishes]).toEqual([true, { releaseDelay: 45, completed: false }]);
  });

  it('counts as it was last called', () => {
    const { job } = aJob();
    for (const delay of [45, 90, 0]) job.release(delay);
    expect(job.wishes.releaseDelay).toBe(0);
  });

  it('of less than nothing is at once', () => {
    const { job } = aJob();
    job.release(-1);
    expect(job.wishes.releaseDelay).toBe(0);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0.5, '5', undefined, new Date()])(
    'takes whole seconds: %s is refused, and nothing is noted',
    (delay) => {
      const { job } = aJob();
      expect(refusal(() => job.release(delay as number)).code).toBe('invalid_number');
      expect(job.wasReleased()).toBe(false);
    },
  );

  it('does not touch the store', () => {
    const { job, completedIn } = aJob();
    job.release(45);
    expect(completedIn).toEqual([]);
  });
});

describe('complete', () => {
  it('deletes the job on the transaction given', async () => {
    const { job, completedIn } = aJob();
    const tx = { id: 'tx' };
    await job.complete(tx);
    expect(completedIn).toEqual([tx]);
    expect(job.wishes).toEqual({ releaseDelay: null, completed: true });
  });

  it('works when it is taken from its job', async () => {
    const { job, completedIn } = aJob();
    const { complete } = job;
    await complete('tx');
    expect(completedIn).toEqual(['tx']);
  });

  it('does nothing the second time', async () => {
    const { job, completedIn } = aJob();
    await job.complete('tx');
    await job.complete('tx');
    await Promise.all([job.complete('tx'), job.complete('other')]);
    expect(completedIn).toEqual(['tx']);
  });

  it('does nothing a second time while the first is under way', async () => {
    let finish = () => {};
    const { job, completedIn } = aJob(
      {},
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const both = Promise.all([job.complete('tx'), job.complete('tx')]);
    expect([job.isCompleting, job.wishes.completed]).toEqual([true, false]);
    finish();
    await both;
    expect([completedIn, job.wishes.completed]).toEqual([['tx'], true]);
  });

  it('throws what the driver throws, and leaves the job as it was', async () => {
    const lost = new ClaimLost('gone');
    const { job } = aJob({}, () => Promise.reject(lost));
    await expect(job.complete('tx')).rejects.toBe(lost);
    expect(isQueueError(lost, 'claim_lost')).toBe(true);
    expect([job.wishes, job.isCompleting]).toEqual([{ releaseDelay: null, completed: false }, false]);
  });

  it('may be tried again after it failed', async () => {
    let tries = 0;
    const { job } = aJob({}, async () => {
      tries += 1;
      if (tries === 1) throw new Error('deadlock');
    });
    await expect(job.complete('tx')).rejects.toThrow('deadlock');
    await job.complete('tx');
    expect([tries, job.wishes.completed]).toEqual([2, true]);
  });

  it('is waited for where its handler did not', async () => {
    let finish = () => {};
    const { job } = aJob(
      {},
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    void job.complete('tx');
    const waiting = job.completionSettled();
    finish();
    await waiting;
    expect(job.wishes.completed).toBe(true);
  });

  it('that failed unwatched disturbs nobody who waits for it', async () => {
    const { job } = aJob({}, () => Promise.reject(new Error('deadlock')));
    const completing = job.complete('tx');
    await job.completionSettled();
    await expect(completing).rejects.toThrow('deadlock');
  });
});

describe('release and complete exclude each other', () => {
  it('a released job cannot be completed, and stays released', async () => {
    const { job, completedIn } = aJob();
    job.release(45);
    expect(await rejection(() => job.complete('tx'))).toEqual(settled('completed after it was released'));
    expect([completedIn, job.wishes]).toEqual([[], { releaseDelay: 45, completed: false }]);
  });

  it('a completed job cannot be released, and stays completed', async () => {
    const { job } = aJob();
    await job.complete('tx');
    expect(refusal(() => job.release(45))).toEqual(settled('released after it was completed'));
    expect([job.wasReleased(), job.wishes]).toEqual([false, { releaseDelay: null, completed: true }]);
  });

  it('nor can one that is being completed', async () => {
    const { job } = aJob();
    const completing = job.complete('tx');
    expect(refusal(() => job.release(45)).code).toBe('job_settled');
    await completing;
  });

  it('one whose completion failed can be put back', async () => {
    const { job } = aJob({}, () => Promise.reject(new Error('deadlock')));
    await expect(job.complete('tx')).rejects.toThrow('deadlock');
    job.release(45);
    expect(job.wishes).toEqual({ releaseDelay: 45, completed: false });
  });
});

describe('the signal', () => {
  const timeout = new JobAborted('timeout', 'The job ran past its time limit of 5 s');

  it('is one and the same', () => {
    const { job } = aJob();
    expect(job.signal).toBe(job.signal);
    expect(job.signal.aborted).toBe(false);
  });

  it('is aborted with the reason', () => {
    const { job } = aJob();
    const reasons: unknown[] = [];
    job.signal.addEventListener('abort', () => reasons.push(job.signal.reason));
    job.abort(timeout);
    expect(reasons).toEqual([timeout]);
    expect(() => job.signal.throwIfAborted()).toThrow(timeout);
  });

  it('is aborted from the start where nobody asked for it before', () => {
    const { job } = aJob();
    job.abort(timeout);
    expect([job.signal.aborted, job.signal.reason]).toEqual([true, timeout]);
  });

  it('keeps the first reason', () => {
    const { job } = aJob();
    job.abort(timeout);
    job.abort(new JobAborted('shutdown', 'later'));
    expect([job.signal.reason, job.abortedFor]).toEqual([timeout, timeout]);
  });
});
