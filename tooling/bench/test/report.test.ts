import { expect, test } from 'vitest';
import type { Outcome } from '../src/measure.js';
import { type Measurement, report } from '../src/report.js';
import { quantile, summary } from '../src/statistics.js';

const environment = {
  date: '2026-01-01T00:00:00.000Z',
  commit: 'abc',
  cpu: '2 x a processor',
  memoryGigabytes: 8,
  system: 'linux',
  node: 'v20',
  packages: { pg: '8' },
};

function measured(subject: string, ...outcomes: Outcome[]): Measurement[] {
  const rounds = outcomes.map((outcome, index) => ({ outcome, round: index + 1 }));
  return rounds.map((round) => ({ store: 'postgres', scenario: 'push', subject, jobs: 10, ...round }));
}

const rate = (value: number): Outcome => ({ value, also: {} });

function lines(...measurements: Measurement[]): string[] {
  const notRun = ['a peer (postgres): why'];
  return report({ environment, stopped: null, servers: { postgres: 'a server' }, measurements, notRun }).split('\n');
}

test('Quantiles lie between the values, and the spread is of the median', () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([1, 2, 3], 1)).toBe(3);
  expect(quantile([], 0.5)).toBeNaN();
  expect(summary([80, 100, 120])).toEqual({ median: 100, spread: 0.4, rounds: 3 });
});

test('A line has the median, the spread and how q compares', () => {
  const told = lines(...measured('q', rate(90), rate(100), rate(110)), ...measured('limit', rate(200)));
  expect(told).toContain(`  q                      100  spread 20% of 3`);
  expect(told).toContain(`  limit                  200  spread 0% of 1  q/limit 0.50`);
});

test('One failed round is what is told of a subject, and nothing is compared with it', () => {
  const told = lines(...measured('q', rate(90), { failed: '1 lost' }), ...measured('limit', rate(200)));
  expect(told).toContain('  q                FAILED in 1 of 2: 1 lost');
  expect(told).toContain(`  limit                  200  spread 0% of 1`);
});

test('What was not run is told', () => {
  expect(lines().at(-1)).toBe('not run: a peer (postgres): why');
});
