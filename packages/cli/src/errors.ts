/** 0: it went well. 1: the command ran and failed. 2: the invocation was wrong. */
export type ExitCode = 0 | 1 | 2;

/** A failure that is told in the words of its message, which is one line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: 1 | 2;

  constructor(exitCode: 1 | 2, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The invocation was wrong: exit code 2. */
export function refused(message: string, options?: { readonly cause?: unknown }): CommandError {
  return new CommandError(2, message, options);
}

/** The command ran and failed: exit code 1. */
export function failed(message: string, options?: { readonly cause?: unknown }): CommandError {
  return new CommandError(1, message, options);
}

// Anybody can throw anything, 20 MB of text too: what is shown is cut before it is looked through.
const LONGEST_MESSAGE = 500;
const LONGEST_STACK = 60_000;
// Looked through beyond what is shown: a password that is cut in two is none that could be recognised.
const MARGIN = 2_000;
const MOST_CAUSES = 10;

/**
 * The first line that says anything about what was thrown, be it an Error or not. A client that tried several addresses
 * throws an AggregateError without a message: then it is the first of its errors that says something.
 */
export function messageOf(thrown: unknown): string {
  const [line = ''] = textOf(thrown)
    .trimStart()
    .slice(0, LONGEST_MESSAGE + MARGIN)
    .split('\n', 1);
  return withoutPasswords(line).slice(0, LONGEST_MESSAGE).trimEnd();
}

/** The stack, with those of the causes: for `--verbose`. */
export function stackOf(thrown: unknown): string {
  const stacks: string[] = [];
  for (let error = thrown; error !== undefined && error !== null; error = read(error, 'cause')) {
    const stack = read(error, 'stack');
    stacks.push((typeof stack === 'string' ? stack : textOf(error)).slice(0, LONGEST_STACK + MARGIN));
    if (stacks.length === MOST_CAUSES) break;
  }
  return withoutPasswords(stacks.join('\nCaused by: ').slice(0, LONGEST_STACK + MARGIN)).slice(0, LONGEST_STACK);
}

/** A connection string that found its way into a message: what is between its colon and its @ is nobody's to see. */
export function withoutPasswords(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:@/]{0,200}:)\S{0,1000}@/gi, '$1***@');
}

function textOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return typeof thrown === 'symbol' ? 'a symbol' : `${thrown}`;
  const message = read(thrown, 'message');
  if (typeof message === 'string' && message.trim() !== '') return message;
  const first = read(read(thrown, 'errors'), '0');
  for (const value of [read(first, 'message'), read(thrown, 'code'), read(thrown, 'name')]) {
    if (typeof value === 'string' && value !== '') return value;
  }
  return 'an object without a message';
}

function read(holder: unknown, key: string): unknown {
  try {
    return (holder as Readonly<Record<string, unknown>>)[key];
  } catch {
    return undefined; // a getter that throws: anything can be thrown
  }
}
