// Reserves and deletes until nothing is left, and prints the ids: one of several processes on one journal.
import { Journal, JournalDriver } from '../src/index.js';

const driver = new JournalDriver(new Journal(process.argv[2] ?? ''));
for (;;) {
  const job = await driver.reserve(['default'], 60, String(process.pid));
  if (job === null) break;
  if (await driver.delete(job)) console.log(job.id);
}
