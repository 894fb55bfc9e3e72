import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { schema } from '../src/index.js';
import { type StatementName, type StatementTexts, statementTexts } from '../src/statements.js';

const NAMES = { table: 'queue_jobs', failedTable: 'queue_failed_jobs' };

function installed(names = NAMES): { db: Database.Database; texts: StatementTexts } {
  const db = new Database(':memory:');
  onTestFinished(() => {
    db.close();
  });
  db.exec(schema(names));
  return { db, texts: statementTexts(names) };
}

/** How SQLite would run a statement, with every parameter bound to something. */
function planOf(db: Database.Database, text: string): string[] {
  const names = [...text.matchAll(/:(\w+)/g)].map(([, name]) => [name, 1]);
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all(Object.fromEntries(names)) as { detail: string }[];
  return rows.map(({ detail }) => detail);
}

/** A queue in which 20,000 delayed jobs go before the one that is due. */
function fill(db: Database.Database): void {
  db.exec(`
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
    INSERT INTO queue_jobs (name, payload, priority, available_at, created_at)
    SELECT 'later', '{}', n % 7 + 1, '2031-06-01 00:00:00', '2031-05-01 00:00:00' FROM numbers`);
  db.exec(`
    INSERT INTO queue_jobs (name, payload, priority, available_at, created_at)
    VALUES ('now', '{}', 0, '2031-05-01 00:00:00', '2031-05-01 00:00:00')`);
}

describe('every statement', () => {
  it.each(Object.keys(statementTexts(NAMES)) as StatementName[])(
    '%s can be prepared against the installed schema',
    (name) => {
      const { db, texts } = installed();
      expect(() => db.prepare(texts[name])).not.toThrow();
    },
  );

  it('can be prepared where the tables are named by words of SQL', () => {
    const { db, texts: worded } = installed({ table: 'main.order', failedTable: 'case' });
    for (const text of Object.values(worded)) expect(() => db.prepare(text)).not.toThrow();
  });

  it('differs from one driver to the next in its table names alone', () => {
    const one = JSON.stringify(statementTexts({ table: 'aaa', failedTable: 'bbb' }));
    const other = JSON.stringify(statementTexts({ table: 'ccc', failedTable: 'ddd' }));
    expect(other.replaceAll('"ccc\\"', '"aaa\\"').replaceAll('"ddd\\"', '"bbb\\"')).toBe(one);
  });

  it('that changes or ends a claim is fenced by id, attempts and the claim itself', () => {
    const { texts } = installed();
    const fence = /WHERE id = :id AND attempts = :attempts AND reserved_until IS NOT NULL$/;
    for (const name of ['deleteClaim', 'release', 'insertFailed', 'extend'] as const) {
      expect(texts[name], name).toMatch(fence);
    }
  });
});

describe('the plan', () => {
  const RESERVE_INDEX = 'INDEX idx_queue_jobs_reserve';

  it.each([false, true])(
    'of a claim’s statements is one jump in the index each, without a sort (analysed: %s)',
    (analysed) => {
      const { db, texts } = installed();
      fill(db);
      if (analysed) db.exec('ANALYZE');
      for (const name of ['topPriority', 'nextPriority', 'candidates'] as const) {
        const plan = planOf(db, texts[name]);
        expect(plan.join('\n'), name).toContain(RESERVE_INDEX);
        expect(plan.join('\n'), name).not.toMatch(/TEMP B-TREE|SCAN/);
      }
      expect(planOf(db, texts.candidates)).toStrictEqual([
        'SEARCH main.queue_jobs USING INDEX idx_queue_jobs_reserve (queue=? AND priority=? AND available_at<?)',
      ]);
    },
  );

  it('of a push, a claim and an end of a job is by key', () => {
    const { db, texts } = installed();
    fill(db);
    for (const name of ['claim', 'deleteClaim', 'release', 'extend', 'deleteInserted'] as const) {
      expect(planOf(db, texts[name])[0], name).toBe('SEARCH main.queue_jobs USING INTEGER PRIMARY KEY (rowid=?)');
    }
    expect(planOf(db, texts.findByUnique)).toStrictEqual([
      'SEARCH main.queue_jobs USING COVERING INDEX idx_queue_jobs_unique_key (unique_key=?)',
    ]);
  });

  it('of the failed jobs’ list goes along failed_at, and sorts those of one second alone', () => {
    const { db, texts } = installed();
    expect(planOf(db, texts.failedRows)).toStrictEqual([
      'SCAN main.queue_failed_jobs USING INDEX idx_queue_failed_jobs_failed_at',
      'USE TEMP B-TREE FOR LAST TERM OF ORDER BY',
    ]);
  });

  it('of forgetting old failures reads those alone', () => {
    const { db, texts } = installed();
    expect(planOf(db, texts.forgetFailedBefore)).toStrictEqual([
      'SEARCH main.queue_failed_jobs USING INDEX idx_queue_failed_jobs_failed_at (failed_at<?)',
    ]);
  });

  it('of counting one queue reads that queue alone', () => {
    const { db, texts } = installed();
    expect(planOf(db, texts.pendingInQueue)).toStrictEqual([
      'SEARCH main.queue_jobs USING INDEX idx_queue_jobs_reserve (queue=?)',
    ]);
  });

  it('of what wakeups ask is one step', () => {
    const { db, texts } = installed();
    fill(db);
    expect(planOf(db, texts.newestJob)).toStrictEqual(['SEARCH main.queue_jobs']);
    expect(planOf(db, texts.findStranded)).toStrictEqual([
      'SEARCH main.queue_jobs USING INTEGER PRIMARY KEY (rowid>?)',
    ]);
  });
});

describe('the claim', () => {
  const bound = { until: '2031-05-17 10:21:30', worker: 'w', now: '2031-05-17 10:20:30' };

  it('is refused by its guard where a live claim holds the row, and takes one that has expired', () => {
    const { db, texts } = installed();
    db.exec(`
      INSERT INTO queue_jobs (name, payload, available_at, created_at, reserved_until, attempts)
      VALUES ('held', '{}', '2031-05-01 00:00:00', '2031-05-01 00:00:00', '2031-05-17 10:20:31', 1),
             ('expired', '{}', '2031-05-01 00:00:00', '2031-05-01 00:00:00', '2031-05-17 10:20:30', 1)`);
    const claim = db.prepare(texts.claim);
    expect(claim.run({ ...bound, id: 1 }).changes).toBe(0);
    expect(claim.run({ ...bound, id: 2 }).changes).toBe(1);
    expect(
      db.prepare('SELECT name, attempts, reserved_until, reserved_by FROM queue_jobs ORDER BY id').all(),
    ).toStrictEqual([
      { name: 'held', attempts: 1, reserved_until: '2031-05-17 10:20:31', reserved_by: null },
      { name: 'expired', attempts: 2, reserved_until: '2031-05-17 10:21:30', reserved_by: 'w' },
    ]);
  });
});
