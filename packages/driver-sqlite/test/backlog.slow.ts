import { describe, expect, it } from 'vitest';
import { aJob, open } from './fixtures.js';

describe('a million delayed jobs of higher priorities', () => {
  it.each([false, true])('cost a claim next to nothing (analysed: %s)', async (analysed) => {
    const { driver, db } = await open();
    db.exec(`
      WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000000)
      INSERT INTO queue_jobs (name, payload, priority, available_at, created_at)
      SELECT 'later', '{}', n % 10 + 1, '2031-06-01 00:00:00', '2031-05-01 00:00:00' FROM numbers`);
    if (analysed) db.exec('ANALYZE');
    const ids = [await driver.push(aJob()), await driver.push(aJob())];
    const elapsedMs = await timed(async () => {
      expect((await driver.reserve(['default'], 60, 'w'))?.id).toBe(ids[0]);
      expect((await driver.reserveMany(['default'], 10, 60, 'w')).map(({ id }) => id)).toStrictEqual([ids[1]]);
      expect(await driver.reserve(['default'], 60, 'w')).toBe(null);
    });
    expect(elapsedMs).toBeLessThan(100);
  });
});

async function timed(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
