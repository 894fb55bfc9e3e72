import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addDoctor } from './commands/doctor.js';
import { addFailed } from './commands/failed.js';
import { addForget } from './commands/forget.js';
import { addInstall } from './commands/install.js';
import { addRetry } from './commands/retry.js';
import { addStatus } from './commands/status.js';
import { addWhy } from './commands/why.js';
import { addWork } from './commands/work.js';
import { CommandError, type ExitCode, refused } from './errors.js';
import type { Session } from './session.js';

const EPILOGUE = `
The queue is the one that q.config.ts (or .js, .mjs) exports, here or in a folder above.
Exit codes: 0 it went well, 1 the command ran and failed, 2 the invocation was wrong.`;

/** Runs the command line and resolves to its exit code. Whatever goes wrong has been told on stderr by then. */
export async function runCommandLine(args: readonly string[], session: Session): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = programFor(session);
  const run = async (action: (session: Session) => Promise<ExitCode>) => {
    session.isVerbose = program.opts().verbose === true;
    exitCode = await action(session);
  };
  for (const add of [addInstall, addWork, addStatus, addFailed, addRetry, addForget, addWhy, addDoctor])
    add(program, run);
  try {
    if (args.length === 0) throw refused('no command given; q --help lists them');
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return told(session, error);
    // Help and version were asked for, and have been written. Help that was not asked for is an error.
    return error.exitCode === 0 ? 0 : told(session, refused(lineOf(error)));
  }
}

function programFor({ out }: Session): Command {
  return new Command('q')
    .description('Runs and looks after the background jobs of q')
    .version(version(), '-V, --version', 'the version of this command')
    .option('-v, --verbose', 'errors with their stacks')
    .helpOption('-h, --help', 'this help, or that of a command')
    .helpCommand('help [command]', 'this help, or that of a command')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: () => {} })
    .addHelpText('after', EPILOGUE)
    .exitOverride();
}

/** Commander writes an error as `error: …`, with a suggestion on a line of its own, and unasked help in place of one. */
function lineOf({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'there is no such command to be helped with; q --help lists them';
  return message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
}

function told(session: Session, error: unknown): ExitCode {
  session.error(error);
  return error instanceof CommandError ? error.exitCode : 1;
}

function version(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}
