import { describe, expect, it } from 'vitest';
import { Bell } from '../src/worker/bell.js';
import type { Clock } from '../src/worker/clock.js';

/** A clock moved by hand, with its timers. */
function aClock() {
  let nowMs = 0;
  const timers = new Set<{ dueMs: number; callback: () => void }>();
  const clock: Clock = {
    monotonicMs: () => nowMs,
    after(ms, callback) {
      const timer = { dueMs: nowMs + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const advance = (ms: number) => {
    nowMs += ms;
    for (const timer of [...timers].filter(({ dueMs }) => dueMs <= nowMs)) {
      timers.delete(timer);
      timer.callback();
    }
  };
  return { clock, timers, advance };
}

/** Whether a promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

describe('a bell', () => {
  it('wakes whoever waits for it', async () => {
    const bell = new Bell(aClock().clock);
    const waiting = bell.wait();
    expect(await isSettled(waiting)).toBe(false);
    bell.ring();
    expect(await isSettled(waiting)).toBe(true);
  });

  it('that rang while nobody waited ends the next wait at once', async () => {
    const bell = new Bell(aClock().clock);
    bell.ring();
    expect(await isSettled(bell.wait(1_000))).toBe(true);
  });

  it('that rang many times ends one wait, not two', async () => {
    const bell = new Bell(aClock().clock);
    bell.ring();
    bell.ring();
    await bell.wait();
    expect(await isSettled(bell.wait())).toBe(false);
  });

  it('forgets a ring that it is hushed for', async () => {
    const bell = new Bell(aClock().clock);
    bell.ring();
    bell.hush();
    expect(await isSettled(bell.wait())).toBe(false);
  });

  it('keeps a ring that comes between the look and the wait after it', async () => {
    const bell = new Bell(aClock().clock);
    bell.hush();
    bell.ring();
    expect(await isSettled(bell.wait())).toBe(true);
  });

  it('is waited for no longer than was said', async () => {
    const { clock, advance } = aClock();
    const waiting = new Bell(clock).wait(1_000);
    advance(999);
    expect(await isSettled(waiting)).toBe(false);
    advance(1);
    expect(await isSettled(waiting)).toBe(true);
  });

  it('leaves no timer behind when it rings', async () => {
    const { clock, timers } = aClock();
    const bell = new Bell(clock);
    const waiting = bell.wait(1_000);
    expect(timers.size).toBe(1);
    bell.ring();
    await waiting;
    expect(timers.size).toBe(0);
  });

  it('waits anew after it rang, and after a wait that ended by time', async () => {
    const { clock, advance } = aClock();
    const bell = new Bell(clock);
    for (let round = 0; round < 3; round += 1) {
      const waiting = bell.wait(1_000);
      if (round % 2 === 0) advance(1_000);
      else bell.ring();
      await waiting;
    }
    const waiting = bell.wait(1_000);
    expect(await isSettled(waiting)).toBe(false);
    bell.ring();
    expect(await isSettled(waiting)).toBe(true);
  });
});
