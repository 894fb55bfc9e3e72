// Tasks that need a process of their own. They run the built package, as an application would.
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';

const job = { name: 'work', payload: {}, delay: 0, queue: 'default', priority: 0, unique: null, maxAttempts: 3 };

/** The parent's next message. */
const told = () => new Promise((resolve) => process.once('message', resolve));

const tasks = {
  /** Holds the write lock for some milliseconds; says so when it has it. */
  async lock(file, ms) {
    const db = new Database(file);
    db.exec('BEGIN IMMEDIATE');
    process.send('locked');
    await new Promise((resolve) => setTimeout(resolve, Number(ms)));
    db.exec('COMMIT');
    db.close();
  },

  /** The first boot of a process: tables, then a push. */
  async boot(file) {
    const db = new Database(file);
    const driver = new SqliteDriver(db, { onWarning: () => {} });
    process.send('ready');
    await told();
    await driver.createTables();
    await driver.push(job);
    await driver.close();
    db.close();
    process.send('booted');
  },

  /** Pushes, then works until nothing is left; says which jobs it completed. */
  async work(file, count) {
    const db = new Database(file);
    const driver = new SqliteDriver(db, { onWarning: () => {} });
    process.send('ready');
    await told();
    const done = [];
    for (let index = 0; index < Number(count); index += 1) {
      await driver.push(job);
      if (index % 2 === 0) await complete(driver, done);
    }
    while (await complete(driver, done));
    await driver.close();
    db.close();
    process.send(done);
  },

  /** Pushes whenever it is told to, on the application's connection or on the driver's, and says when. */
  async push(file) {
    const db = new Database(file);
    const driver = new SqliteDriver(db, { onWarning: () => {} });
    process.on('message', async (how) => {
      if (how === 'end') return process.disconnect();
      if (how === 'pushSync') driver.pushSync(job);
      else await driver.push(job);
      process.send(performance.timeOrigin + performance.now());
    });
    process.send('ready');
  },

  /** Listens, and has nothing else to do. */
  async listen(file) {
    const driver = new SqliteDriver(new Database(file));
    await driver.onPush(['default'], () => {});
    process.send('listening');
  },

  /** What a push says on a database that this process may not write; null: it was stored. */
  async pushUnprivileged(file) {
    new Database(':memory:').close(); // loads the native part while this process may still read where it lies
    if (process.getuid() === 0) process.setuid(65534); // root may write anything
    const driver = new SqliteDriver(new Database(file), { onWarning: () => {} });
    const error = await driver.push(job).then(
      () => null,
      ({ name, code, message }) => ({ name, code, message }),
    );
    process.send(error);
  },
};

async function complete(driver, done) {
  const reserved = await driver.reserve(['default'], 60, `worker-${process.pid}`);
  if (reserved === null) return false;
  if (await driver.delete(reserved)) done.push(reserved.id);
  return true;
}

const [task, ...args] = process.argv.slice(2);
await tasks[task](...args);
if (task !== 'push') process.disconnect();
