import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../src/worker/clock.js';
import { inChild } from './fixtures.js';

afterEach(() => {
  vi.useRealTimers();
});

describe('the clock of the process', () => {
  it('only goes forward', () => {
    const moments = Array.from({ length: 1_000 }, () => systemClock.monotonicMs());
    expect([...moments].sort((a, b) => a - b)).toEqual(moments);
  });

  it('is not moved by a change of the time of day', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const before = systemClock.monotonicMs();
    vi.setSystemTime(new Date('2099-01-01'));
    expect(systemClock.monotonicMs() - before).toBeLessThan(1_000);
  });
});

describe('a call after a time', () => {
  it('comes once', async () => {
    let calls = 0;
    systemClock.after(5, () => {
      calls += 1;
    });
    await wait(40);
    expect(calls).toBe(1);
  });

  it.each([0, 0.4, 1, 5.9, 10.1, 20])('never comes early: %d ms', async (ms) => {
    const early: number[] = [];
    const one = () =>
      new Promise<void>((resolve) => {
        const start = performance.now();
        systemClock.after(ms, () => {
          const elapsed = performance.now() - start;
          if (elapsed < ms) early.push(elapsed);
          resolve();
        });
      });
    for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 20 }, one));
    expect(early).toEqual([]);
  });

  it.each([-1, -1e300])('comes at once where the time has passed already: %d ms', async (ms) => {
    let called = false;
    systemClock.after(ms, () => {
      called = true;
    });
    await wait(20);
    expect(called).toBe(true);
  });

  it('is never made before the function has returned', () => {
    let called = false;
    const cancel = systemClock.after(-1, () => {
      called = true;
    });
    expect(called).toBe(false);
    cancel();
  });

  it('does not come when it was cancelled', async () => {
    let called = false;
    const cancel = systemClock.after(5, () => {
      called = true;
    });
    cancel();
    cancel();
    await wait(30);
    expect(called).toBe(false);
  });

  it('comes after the whole of a time that no timer of Node can hold, and not before', () => {
    vi.useFakeTimers();
    let called = false;
    systemClock.after(2 ** 31 * 3, () => {
      called = true;
    });
    vi.advanceTimersByTime(2 ** 31 * 3 - 1);
    expect(called).toBe(false);
    vi.advanceTimersByTime(1);
    expect(called).toBe(true);
  });

  it('can be cancelled in any of the slices of such a time', () => {
    vi.useFakeTimers();
    let called = false;
    const cancel = systemClock.after(2 ** 31 * 3, () => {
      called = true;
    });
    vi.advanceTimersByTime(2 ** 31 + 5);
    cancel();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(2 ** 33);
    expect(called).toBe(false);
  });

  it('of more than 2^31 − 1 ms neither comes at once nor prints a warning', async () => {
    const script = `
      import { systemClock } from './dist/worker/clock.js';
      let calls = 0;
      const times = [2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 30 * 86_400_000, 8.64e15, Number.MAX_VALUE, Infinity];
      const cancels = times.map((ms) => systemClock.after(ms, () => { calls += 1; }));
      setTimeout(() => {
        for (const cancel of cancels) cancel();
        console.log(JSON.stringify(calls));
      }, 300);`;
    expect(await inChild(script)).toEqual({ answer: 0, warnings: '' });
  });
});
