// A setting that MariaDB alone has.
import { expect, it } from 'vitest';
import { aJob, count, isInTransaction, open, useDatabase } from './fixtures.js';

const database = useDatabase();

it('A job that is newer than the snapshot is not completed (1020), which costs the transaction, and that is marked', async () => {
  const { pool, driver } = await open(database.url());
  await pool.query('CREATE TABLE notes (text text NOT NULL) ENGINE=InnoDB');
  const connection = await pool.getConnection();
  await connection.query('SET innodb_snapshot_isolation = 1');
  await connection.beginTransaction();
  expect(await count(connection)).toBe(0); // the snapshot
  await driver.push(aJob());
  const job = await driver.reserve(['default'], 60, 'w');
  if (job === null) throw new Error('no job');
  await connection.query("INSERT INTO notes VALUES ('mine')");
  const refusal: unknown = await driver
    .within(connection)
    .delete(job)
    .catch((error: unknown) => error);
  expect(refusal).toMatchObject({ errno: 1020, transactionLost: true });
  expect([await isInTransaction(connection), await count(connection, 'notes')]).toStrictEqual([false, 0]);
  connection.destroy();
  expect(await driver.delete(job)).toBe(true);
});
