#!/usr/bin/env node
// The command `q`. It ends with process.exit: an open pool in the config, or a handler that goes on after it was given
// up, is not to keep it.
import { runCommandLine } from './command-line.js';
import { Session } from './session.js';

const session = new Session(process, process.env, process.cwd());

// Node would print these with a stack; a listener of its own is what prints warnings.
process.removeAllListeners('warning');
process.on('warning', (warning) => session.warning(warning));
process.on('uncaughtException', (error) => {
  session.error(error, 'uncaught: ');
  void session.leave(1);
});
// Nothing is left that could settle what the command waits for: a promise in the config, or in a driver.
process.on('beforeExit', () => {
  session.error('nothing is left to wait for, but the command has not ended: some promise never settles');
  void session.leave(1);
});

void runCommandLine(process.argv.slice(2), session).then((exitCode) => session.leave(exitCode));
