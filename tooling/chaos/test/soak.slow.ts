import { expect, it } from 'vitest';
import { SOAKED, soakAll } from '../src/soak.js';

const SECONDS = 75;

it('A load of a minute with a kill every five seconds leaves throughput, memory, connections and listeners flat', async () => {
  const lines: string[] = [];
  const { passed, failed } = await soakAll(SOAKED, { seed: 12, seconds: SECONDS }, (line) => {
    lines.push(line);
    console.log(line);
  });
  expect(failed, lines.join('\n')).toBe(0);
  expect(passed).toBe(SOAKED.length);
});
