import { describe, expect, it } from 'vitest';
import { type Figure, flatnessOf, type Sample } from '../src/flatness.js';

const FLAT: Sample = { started: 30, connections: 8, rssMb: 80, resources: 12, listeners: 5, warnings: 0 };
const soak = (change: (second: number) => Partial<Sample>) =>
  Array.from({ length: 60 }, (_, second) => ({ ...FLAT, ...change(second) }));

describe('a soak', () => {
  it('in which nothing changes is flat', () => {
    expect(flatnessOf(soak(() => ({}))).faults).toEqual([]);
  });

  it('that warms up and has a bad second now and then is flat', () => {
    const samples = soak((second) => ({ rssMb: second < 12 ? 40 + second : 80, started: second % 5 === 0 ? 0 : 30 }));
    expect(flatnessOf(samples).faults).toEqual([]);
  });

  it.each<[Figure, (second: number) => number]>([
    ['started', (second) => 40 - second * 0.6],
    ['rssMb', (second) => 80 + second],
    ['connections', (second) => 8 + second / 10],
    ['resources', (second) => 12 + second / 5],
    ['listeners', (second) => 5 + second / 10],
    ['warnings', (second) => (second > 40 ? 1 : 0)],
  ])('whose %s drifts is not', (figure, value) => {
    const { faults } = flatnessOf(soak((second) => ({ [figure]: value(second) })));
    expect(faults).toEqual([expect.stringContaining(`${figure} went from`)]);
  });

  it('in which nothing happens is not', () => {
    expect(flatnessOf(soak(() => ({ started: 0 }))).faults).toEqual(['started went from 0 to 0']);
  });

  it('of a few seconds says nothing', () => {
    expect(flatnessOf([FLAT, FLAT, FLAT, FLAT, FLAT]).faults).toEqual(['5 samples say nothing']);
  });
});
