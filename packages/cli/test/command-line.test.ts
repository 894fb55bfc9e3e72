import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../src/command-line.js';
import { Session } from '../src/session.js';
import { aProject } from './project.js';

const COMMANDS = ['install', 'work', 'status', 'failed', 'retry', 'forget', 'why'];
const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Invocations that are wrong whatever the config says, and what is said about them. There is no config here. */
const WRONG: readonly [line: string, error: string][] = [
  ['', 'no command given; q --help lists them'],
  ['nope', "unknown command 'nope'"],
  ['statu', "unknown command 'statu' (Did you mean status?)"],
  ['status --jsn', "unknown option '--jsn' (Did you mean --json?)"],
  ['status extra', "too many arguments for 'status'. Expected 0 arguments but got 1."],
  ['work --queue', "option '--queue <names>' argument missing"],
  ['work --queue=', "option '--queue <names>' argument '' is invalid. It has to be names, separated by commas."],
  ['work --queue=a,,b', "option '--queue <names>' argument 'a,,b' is invalid. It has to be names, separated by commas."],
  ['work --concurrency=1.5', "option '--concurrency <n>' argument '1.5' is invalid. It has to be a whole number."],
  ['work --sleep=soon', "option '--sleep <seconds>' argument 'soon' is invalid. It has to be a number."],
  ['work --max-time=1h', "option '--max-time <seconds>' argument '1h' is invalid. It has to be a number."],
  ['install --format=flyway', "option '--format <tool>' argument 'flyway' is invalid. Allowed choices are sql, knex, kysely, drizzle, prisma."],
  ['failed --limit=all', "option '--limit <n>' argument 'all' is invalid. It has to be a whole number."],
  ['why', "missing required argument 'id'"],
  ['why seven', "command-argument value 'seven' is invalid for argument 'id'. An id is a whole number above 0."],
  ['why 9007199254740993', "command-argument value '9007199254740993' is invalid for argument 'id'. An id is a whole number above 0."],
  ['retry', 'say which: q retry --id=N, or q retry --all'],
  ['retry --id=1 --all', 'say which: q retry --id=N, or q retry --all'],
  ['retry --id=1 --id=2', "option '--id <n>' argument '2' is invalid. It is given twice; one id at a time."],
  ['retry --id=-1', "option '--id <n>' argument '-1' is invalid. An id is a whole number above 0."],
  ['forget', 'say which, in one way: q forget --id=N, --before=YYYY-MM-DD or --all'],
  ['forget --all --before=2027-01-01', 'say which, in one way: q forget --id=N, --before=YYYY-MM-DD or --all'],
  ['forget --before=yesterday', "option '--before <moment>' argument 'yesterday' is invalid. It has to be a moment in UTC: YYYY-MM-DD or \"YYYY-MM-DD HH:MM:SS\"."],
  ['help nope', 'there is no such command to be helped with; q --help lists them'],
]; // biome-ignore format: a table

/** Runs the command line in this process. */
async function inProcess(args: readonly string[]) {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _, done) {
        written[name] += chunk;
        done();
      },
    });
  const session = new Session({ stdout: stream('stdout'), stderr: stream('stderr') }, {}, '/');
  return { code: await runCommandLine(args, session), ...written };
}

describe('q', () => {
  it('--help lists the commands and the exit codes', async () => {
    await using project = aProject();
    const { code, stdout, stderr } = await project.q(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
    expect(stdout).toContain('Exit codes: 0 it went well, 1 the command ran and failed, 2 the invocation was wrong.');
  });

  it.each(COMMANDS)('%s --help tells its options, without a config', async (command) => {
    const { code, stdout, stderr } = await inProcess([command, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: q ${command} `));
    expect(stdout).toContain('--verbose');
    expect(await inProcess(['help', command])).toEqual({ code, stdout, stderr });
  });

  it('--version tells its own', async () => {
    await using project = aProject();
    expect(await project.q(['--version'])).toMatchObject({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
  });

  it.each(WRONG)('%s: exits 2 with one line that says what is wrong', async (line, error) => {
    const { code, stdout, stderr } = await inProcess(line === '' ? [] : line.split(' '));
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: `error: ${error}\n` });
  });

  it.each(['nope', 'status --nope', 'why', 'retry', 'forget --before=2027-02-30'])(
    '%s exits 2 as a process, with one line on stderr and nothing on stdout',
    async (line) => {
      await using project = aProject();
      const { code, stdout, stderr } = await project.q(line.split(' '));
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^error: .*\n$/);
    },
  );

  it('--verbose may stand before the command or after it, and shows no stack of what the command itself says', async () => {
    for (const args of [
      ['-v', 'retry'],
      ['retry', '--verbose'],
    ]) {
      const { code, stderr } = await inProcess(args);
      expect({ code, stderr }).toEqual({ code: 2, stderr: 'error: say which: q retry --id=N, or q retry --all\n' });
    }
  });
});
