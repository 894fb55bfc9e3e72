import { type QueueDriver, QueueError, type Scratch, type ScratchOptions } from '@q/core';
import { describe, expect, test } from 'vitest';
import { examine } from '../src/doctor/index.js';
import { CASES } from '../src/index.js';
import { ReferenceDriver } from './reference-driver.js';
import { MemoryStore } from './reference-store.js';

/** How many twins there are, and were. */
interface Count {
  open: number;
  made: number;
}

/** A driver whose twins are counted, and theirs; `Twin` is what they are. */
function counting(Twin: typeof ReferenceDriver = ReferenceDriver): {
  readonly driver: QueueDriver;
  readonly twins: Count;
} {
  const twins: Count = { open: 0, made: 0 };
  class Counting extends Twin {
    override async scratch({ now = this.now }: ScratchOptions = {}): Promise<Scratch> {
      const store = new MemoryStore();
      twins.open += 1;
      twins.made += 1;
      const connect = async () => new Counting(store, now);
      const remove = async () => {
        twins.open -= 1;
      };
      return { driver: await connect(), connect, [Symbol.asyncDispose]: remove };
    }
  }
  return { driver: new Counting(new MemoryStore(), () => new Date()), twins };
}

describe('the doctor', () => {
  test('of a right driver finds that every case holds that needs no harness, and says why it did not try the others', async () => {
    const { driver, twins } = counting();
    const { results, findings, isWell } = await examine(driver);
    expect(isWell).toBe(true);
    expect(findings.map(({ code }) => code)).toEqual(['durability']);
    expect(results?.map((result) => result.case.id)).toEqual(CASES.map(({ id }) => id));
    expect(results?.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(results?.filter(({ outcome }) => outcome === 'passed').length).toBeGreaterThan(150);
    const reasons = new Set(results?.map((result) => (result.outcome === 'skipped' ? result.why : '')));
    expect([...reasons].sort()).toEqual([
      '',
      'is about the harness of a test',
      'needs a transaction of the application',
      'needs what only a test has: a job can be written behind the driver’s back',
      'needs what only a test has: the failed store can be read behind the driver’s back',
      'needs what only a test has: the stored jobs can be read behind the driver’s back',
    ]);
    expect(twins).toEqual({ open: 0, made: expect.any(Number) });
  });

  test('of a wrong driver says which cases fail', async () => {
    class Wrong extends ReferenceDriver {
      override async pending(): Promise<number> {
        return 0;
      }
    }
    const { driver, twins } = counting(Wrong);
    const { results, isWell } = await examine(driver);
    const failures = results?.filter((result) => result.outcome === 'failed') ?? [];
    expect(failures.map((result) => result.case.rule)).toContain('pending');
    expect(failures[0]?.error.message).toContain('Not true of this driver: ');
    expect([isWell, twins.open]).toEqual([false, 0]);
  });

  test('of a driver that finds an error itself is not content', async () => {
    const { driver } = counting();
    const error = { level: 'error', code: 'read_only', message: 'It takes no writes', advice: 'Let it' } as const;
    Object.defineProperty(driver, 'diagnose', { value: async () => [error] });
    const { findings, isWell } = await examine(driver);
    expect([findings, isWell]).toEqual([[error], false]);
  });

  test('does not try an ability that does nothing in this set-up', async () => {
    const { driver } = counting();
    const polling = { level: 'ok', code: 'listen', message: 'Workers poll', disables: 'wakeups' } as const;
    Object.defineProperty(driver, 'diagnose', { value: async () => [polling] });
    const { results } = await examine(driver);
    const wakeups = results?.filter((result) => result.case.needs.includes('wakeups')) ?? [];
    expect(wakeups.length).toBeGreaterThan(4);
    const reasons = wakeups.map((result) => (result.outcome === 'skipped' ? result.why : result.outcome));
    expect([...new Set(reasons)].sort()).toEqual([
      'needs a transaction of the application',
      'needs wakeups, which this set-up goes without',
    ]);
  });

  test('of a driver that cannot make a twin says so, and tries nothing', async () => {
    const { driver } = counting();
    const refuse = async () => Promise.reject(new QueueError('store_unavailable', 'You may not create tables'));
    Object.defineProperty(driver, 'scratch', { value: refuse });
    const { findings, results, isWell } = await examine(driver);
    expect(findings.at(-1)).toEqual({
      level: 'warning',
      code: 'scratch',
      message: 'No scratch twin could be made, so nothing was tried out: QueueError: You may not create tables',
      advice: 'Run it as a user that may create tables, or keys that begin with {queue_scratch_',
    });
    expect([results, isWell]).toEqual([null, true]);
  });

  test('of a driver that has neither ability says that it knows nothing', async () => {
    const { driver } = counting();
    for (const method of ['scratch', 'diagnose']) Object.defineProperty(driver, method, { value: undefined });
    const { findings, results } = await examine(driver);
    expect([findings.map(({ code }) => code), results]).toEqual([['diagnosis', 'scratch'], null]);
  });

  test('rejects where the server cannot be asked', async () => {
    const { driver, twins } = counting();
    Object.defineProperty(driver, 'diagnose', { value: async () => Promise.reject(new Error('nobody there')) });
    await expect(examine(driver)).rejects.toThrow('nobody there');
    expect(twins).toEqual({ open: 0, made: 0 });
  });

  test('that is interrupted while it looks waits for no answer, and tries nothing', async () => {
    const { driver, twins } = counting();
    const interrupt = new AbortController();
    let answer = () => {};
    const diagnose = () =>
      new Promise<[]>((resolve) => {
        answer = () => resolve([]);
      });
    Object.defineProperty(driver, 'diagnose', { value: diagnose });
    const examined = examine(driver, { signal: interrupt.signal });
    interrupt.abort(new Error('that is enough'));
    await expect(examined).rejects.toThrow('that is enough');
    answer();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(twins).toEqual({ open: 0, made: 0 });
    await expect(examine(driver, { signal: interrupt.signal })).rejects.toThrow('that is enough');
  });

  test.each(CASES.filter(({ rule }) => rule === 'scratch' || rule === 'exclusive').map(({ id }) => id))(
    'that is interrupted at %s leaves no twin, not even a twin of a twin',
    async (id) => {
      const { driver, twins } = counting();
      const interrupt = new AbortController();
      const previous = CASES[CASES.findIndex((one) => one.id === id) - 1]?.id;
      let opened = 0;
      const examined = examine(driver, {
        signal: interrupt.signal,
        onCase: (result) => {
          if (result.case.id !== previous) return;
          opened = twins.made;
          // In the middle of the case: when it has twins.
          const look = () => {
            if (twins.made > opened) interrupt.abort(new Error('that is enough'));
            else setImmediate(look);
          };
          look();
        },
      });
      await expect(examined).rejects.toThrow('that is enough');
      expect(opened).toBeGreaterThan(0);
      expect(twins.open).toBe(0);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(twins.open).toBe(0);
    },
  );
});
