import type { FailedSelection } from '@q/core';
import type { Command } from 'commander';
import { reportsOf } from '../abilities.js';
import { type ExitCode, failed, refused } from '../errors.js';
import type { Run } from '../run.js';
import { parseMoment, parseOneId } from '../selectors.js';
import type { Session } from '../session.js';

interface Options {
  readonly id?: number;
  readonly all?: true;
  readonly before?: Date;
}

export function addForget(program: Command, run: Run): void {
  program
    .command('forget')
    .description('deletes failed jobs')
    .option('--id <n>', 'this one', parseOneId)
    .option('--all', 'all of them')
    .option('--before <moment>', 'those that failed before YYYY-MM-DD or "YYYY-MM-DD HH:MM:SS", UTC', parseMoment)
    .action((options: Options) => run((session) => forget(session, options)));
}

async function forget(session: Session, options: Options): Promise<ExitCode> {
  const which = selectionOf(options);
  return session.withConfig(async ({ config }) => {
    const count = await reportsOf(config, 'q forget').forgetFailed(which);
    if (count === 0 && options.id !== undefined) throw failed(`there is no failed job ${options.id}`);
    session.out.line(`Forgot ${count} failed ${count === 1 ? 'job' : 'jobs'}.`);
    return 0;
  });
}

/** Exactly one selection: of two, one would delete more than the other was meant to. */
function selectionOf({ id, all, before }: Options): FailedSelection {
  const given: FailedSelection[] = [];
  if (id !== undefined) given.push({ id });
  if (before !== undefined) given.push({ before });
  if (all !== undefined) given.push('all');
  const [which] = given;
  if (which !== undefined && given.length === 1) return which;
  throw refused('say which, in one way: q forget --id=N, --before=YYYY-MM-DD or --all');
}
