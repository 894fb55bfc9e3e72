import type { QueueReports, QueueStats } from '@q/core';
import type { Command } from 'commander';
import { reportsOf } from '../abilities.js';
import { type ExitCode, messageOf } from '../errors.js';
import { jsonLine, type Output, printable } from '../output.js';
import { repeat } from '../repeat.js';
import type { Run } from '../run.js';
import { parseAmount } from '../selectors.js';
import type { Session } from '../session.js';
import { type Column, table } from '../table.js';

interface Options {
  readonly json?: true;
  /** True: with the default interval. */
  readonly watch?: true | number;
}

const WATCH_SECONDS = 2;

export function addStatus(program: Command, run: Run): void {
  program
    .command('status')
    .description('how many jobs each queue holds, and how many have failed')
    .option('--json', 'one line of JSON: { queues: [{ queue, pending, delayed, reserved, total }], failed }')
    .option('--watch [seconds]', `again every so many seconds (${WATCH_SECONDS}), in place on a terminal`, parseAmount)
    .action((options: Options) => run((session) => status(session, options)));
}

async function status(session: Session, options: Options): Promise<ExitCode> {
  return session.withConfig(async ({ config }) => {
    const reports = reportsOf(config, 'q status');
    const draw = () => shown(reports, session.out, options);
    if (options.watch === undefined) {
      session.out.line(await draw());
      return 0;
    }
    const seconds = options.watch === true ? WATCH_SECONDS : options.watch;
    const show = (text: string) => (options.json ? session.out.line(text) : session.out.redraw(text));
    // The first reading may fail the command. A later one that fails is shown, since the store may well come back.
    let isFirst = true;
    await repeat(session.out, seconds, async () => {
      try {
        show(await draw());
      } catch (error) {
        if (isFirst) throw error;
        show(options.json ? jsonLine({ error: messageOf(error) }) : `error: ${printable(messageOf(error))}`);
      } finally {
        isFirst = false;
      }
    });
    return 0;
  });
}

const COLUMNS: readonly Column<QueueStats>[] = [
  { title: 'queue', value: ({ queue }) => queue },
  { title: 'pending', align: 'right', value: ({ pending }) => pending },
  { title: 'delayed', align: 'right', value: ({ delayed }) => delayed },
  { title: 'held', align: 'right', value: ({ reserved }) => reserved },
  { title: 'total', align: 'right', value: ({ total }) => total },
];

async function shown(reports: QueueReports, out: Output, { json }: Options): Promise<string> {
  const queues = await reports.stats();
  const failed = await reports.failedCount();
  if (json) return jsonLine({ queues, failed });
  const { colors } = out;
  const jobs = queues.length === 0 ? 'No jobs queued.' : await table(queues, COLUMNS, out);
  const failures =
    failed === 0 ? 'failed: 0' : `${colors.red(`failed: ${failed}`)}  ${colors.dim('see them with: q failed')}`;
  return `${jobs}\n\n${failures}`;
}
