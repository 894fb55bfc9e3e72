import type { Command } from 'commander';
import { reportsOf } from '../abilities.js';
import { type ExitCode, failed, refused } from '../errors.js';
import type { Run } from '../run.js';
import { parseOneId } from '../selectors.js';
import type { Session } from '../session.js';

interface Options {
  readonly id?: number;
  readonly all?: true;
}

const DEFAULT_TRIES = 3;

export function addRetry(program: Command, run: Run): void {
  program
    .command('retry')
    .description('puts failed jobs back into their queues, with all their attempts before them')
    .option('--id <n>', 'this one', parseOneId)
    .option('--all', 'all that are there now')
    .action((options: Options) => run((session) => retry(session, options)));
}

async function retry(session: Session, { id, all }: Options): Promise<ExitCode> {
  if ((id === undefined) === (all === undefined)) throw refused('say which: q retry --id=N, or q retry --all');
  return session.withConfig(async ({ config }) => {
    const reports = reportsOf(config, 'q retry');
    const tries = config.queue.tries ?? DEFAULT_TRIES;
    const count = await reports.retryFailed(id === undefined ? 'all' : { id }, tries);
    if (count === 0 && id !== undefined) throw failed(`there is no failed job ${id}`);
    session.out.line(count === 0 ? 'No failed jobs.' : `Requeued ${count} ${count === 1 ? 'job' : 'jobs'}.`);
    return 0;
  });
}
