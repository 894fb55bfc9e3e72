import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findConfig, type LoadedConfig, loadConfig } from './config.js';
import { CommandError, type ExitCode, messageOf, stackOf } from './errors.js';
import { Output, printable, type Stream } from './output.js';

/** How long the config's `close` is waited for. */
const CLOSE_MS = 5_000;

/** How long a reader of the output is waited for when somebody waits for the command to leave. */
const HURRIED_MS = 100;

/** The command line's surroundings: what a command reads and writes besides the queue. */
export class Session {
  readonly out: Output;
  readonly err: Output;
  /** Where the command was started. */
  readonly folder: string;
  /** Whether errors come with their stacks. */
  isVerbose = false;
  /** Set once somebody waits for the command to leave: then nothing is waited for any more. */
  #hurry: () => void = () => {};
  readonly #hurried: Promise<'hurried'>;

  constructor(streams: { readonly stdout: Stream; readonly stderr: Stream }, env: NodeJS.ProcessEnv, folder: string) {
    this.out = new Output(streams.stdout, env);
    this.err = new Output(streams.stderr, env);
    this.folder = folder;
    this.#hurried = new Promise((resolve) => {
      this.#hurry = () => resolve('hurried');
    });
  }

  /**
   * Loads the config, runs `command` on it and closes it. From there on the process is in the config's folder, so that
   * `new Database('app.db')` in it is one file, wherever the command was started: a worker must not read one queue while
   * a push writes another.
   */
  async withConfig(command: (loaded: LoadedConfig) => Promise<ExitCode>): Promise<ExitCode> {
    const file = findConfig(this.folder);
    process.chdir(dirname(file));
    const loaded = await loadConfig(file, this.folder);
    try {
      return await command(loaded);
    } finally {
      await this.#close(loaded);
    }
  }

  /** Tells an error in one line on stderr; with `--verbose`, its stack too. */
  error(thrown: unknown, prefix = ''): void {
    this.err.line(this.err.colors.red(`error: ${printable(prefix + messageOf(thrown))}`));
    // What the command itself has to say comes from nowhere; what it is about may.
    const origin = thrown instanceof CommandError ? thrown.cause : thrown;
    if (!this.isVerbose || origin === undefined || typeof origin === 'string') return;
    this.err.line(this.err.colors.dim(printable(stackOf(origin), 'lines')));
  }

  /** Tells a warning of Node's, or of a driver's, in one line on stderr. */
  warning({ name, message }: Error): void {
    // What Node says about itself is for whoever chose the Node.
    if (!this.isVerbose && (name === 'ExperimentalWarning' || name === 'DeprecationWarning')) return;
    this.err.line(this.err.colors.yellow(`warning: ${printable(messageOf({ message }))}`));
  }

  /** From now on the command waits neither for `close` nor for a reader of its output. */
  hurry(): void {
    this.#hurry();
  }

  /** Ends the process, once everything written has been taken. */
  async leave(exitCode: ExitCode): Promise<never> {
    const flushed = Promise.all([this.out.flush(), this.err.flush()]);
    await Promise.race([flushed, this.#hurried.then(() => sleep(HURRIED_MS))]);
    process.exit(this.#lost(exitCode));
  }

  /** An answer that could not be written is a failure, unless its reader went away by itself. */
  #lost(exitCode: ExitCode): ExitCode {
    const { failure } = this.out;
    if (failure === null || failure.code === 'EPIPE') return exitCode;
    this.error(failure, 'could not write to stdout: ');
    return exitCode === 0 ? 1 : exitCode;
  }

  async #close({ config, name }: LoadedConfig): Promise<void> {
    const { close } = config;
    if (close === undefined) return;
    const late = new AbortController();
    try {
      const closing = (async () => close.call(config))();
      const outcome = await Promise.race([closing, sleep(CLOSE_MS, 'late', { signal: late.signal }), this.#hurried]);
      if (outcome === 'late') this.error(`the close of ${name} did not end within ${CLOSE_MS / 1000} s`);
    } catch (error) {
      // What the command was asked for is done: its exit code stands.
      this.error(error, `the close of ${name} failed: `);
    } finally {
      late.abort();
    }
  }
}
