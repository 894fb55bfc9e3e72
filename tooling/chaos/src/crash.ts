import { CRASHED } from './process-group.js';

/** An error that nobody caught is news of its own: told apart from a worker that asks to be replaced. */
export function exitOnCrash(): void {
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${error.stack ?? error}\n`, () => process.exit(CRASHED));
  });
}

/** Tells the storm that something got done: it waits for that, and troubles only those that are at work. */
export function tellProgress(): void {
  process.stdout.write('.');
}
