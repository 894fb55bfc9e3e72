import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { FootprintOptions, Sample } from '../src/footprint.js';

const ENTRY = fileURLToPath(new URL('../dist/footprint.js', import.meta.url));

async function footprintOf(options: FootprintOptions): Promise<Sample[]> {
  const args = ['--expose-gc', '--unhandled-rejections=strict', ENTRY, JSON.stringify(options)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Sample[];
}

describe('200,000 jobs', () => {
  it.each([1, 50])('leave a process as it was, at a concurrency of %d', async (concurrency) => {
    const samples = await footprintOf({ jobs: 200_000, concurrency, every: 20_000 });
    console.log(`concurrency ${concurrency}\n${samples.map((sample) => JSON.stringify(sample)).join('\n')}`);
    const [before] = samples;
    const after = samples.at(-1);
    // By 40,000 jobs the code is compiled and the caches are filled.
    const [early, ...later] = samples.filter(({ done }) => done >= 40_000);
    if (before === undefined || after === undefined || early === undefined) throw new Error('No samples were taken');
    expect(after.done).toBe(200_000);
    for (const sample of later) {
      expect(sample.heapUsed - early.heapUsed).toBeLessThan(2);
      expect(sample.rss - early.rss).toBeLessThan(32);
      expect(sample.timers).toBeLessThanOrEqual(early.timers + concurrency);
    }
    expect([after.timers, after.listeners]).toEqual([before.timers, before.listeners]);
    expect(after.resources).toBeLessThanOrEqual(before.resources);
  });
});
