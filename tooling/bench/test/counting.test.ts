import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Counting } from '../src/counting.js';

test('Every job once is no fault', () => {
  const counting = new Counting(3);
  for (const job of [2, 0, 1]) counting.effect(job);
  expect(counting.fault(0)).toBeNull();
});

test('A lost job, a doubled one, one that nobody pushed and one that was left are told with their numbers', () => {
  const counting = new Counting(4);
  for (const job of [0, 1, 1, 2, 9]) counting.effect(job);
  expect(counting.fault(1)).toBe('1 lost, 1 doubled, 1 never pushed, 1 left in the store');
});

test('It is complete with the last of the different jobs, not with as many effects', async () => {
  const counting = new Counting(2);
  let complete = false;
  const then = counting.complete.then(() => {
    complete = true;
  });
  counting.effect(0);
  counting.effect(0);
  await Promise.resolve();
  expect(complete).toBe(false);
  counting.effect(1);
  await then;
  expect(complete).toBe(true);
});

test('The rate leaves out the first batch, and the time until it was done', async () => {
  const counting = new Counting(8, 4);
  for (const job of [0, 1, 2]) counting.effect(job);
  await sleep(100);
  const earliest = performance.now();
  counting.effect(3);
  await sleep(100);
  for (const job of [4, 5, 6, 7]) counting.effect(job);
  const longest = performance.now() - earliest;
  expect(counting.rate).toBeGreaterThanOrEqual(4000 / longest);
  // Four in at least a tenth of a second; a timer may be a millisecond early.
  expect(counting.rate).toBeLessThan(41);
});

test('Of one batch alone there is no rate', () => {
  const counting = new Counting(2, 2);
  for (const job of [0, 1]) counting.effect(job);
  expect(counting.rate).toBeNaN();
});
