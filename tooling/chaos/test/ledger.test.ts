import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Ledger, readLedger } from '../src/ledger.js';
import { between, randomFrom } from '../src/random.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'q-ledger-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a ledger', () => {
  it('is read as one, in the order of time, whoever wrote', () => {
    const pages = ['a', 'b'].map((name) => new Ledger(folder, name));
    for (const id of [1, 2, 3, 4]) pages[id % 2]?.write({ what: 'pushed', push: 'a', id });
    expect(readLedger(folder)).toMatchObject([1, 2, 3, 4].map((id) => ({ what: 'pushed', id, pid: process.pid })));
  });

  it('does without the line that a killed process did not finish', () => {
    new Ledger(folder, 'a').write({ what: 'pushed', push: 'a', id: 1 });
    const [page = ''] = readdirSync(folder);
    appendFileSync(join(folder, page), '{"what":"pushed","push":"b"');
    expect(readLedger(folder)).toMatchObject([{ id: 1 }]);
  });
});

describe('a seed', () => {
  it('gives the same numbers every time, and another seed others', () => {
    const some = (seed: number) => {
      const random = randomFrom(seed);
      return Array.from({ length: 20 }, () => between(random, 1, 1_000));
    };
    expect(some(7)).toEqual(some(7));
    expect(some(7)).not.toEqual(some(8));
    expect(some(7).every((each) => each >= 1 && each <= 1_000)).toBe(true);
  });
});
