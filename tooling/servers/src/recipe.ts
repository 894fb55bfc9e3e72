/** A program and its arguments; run without a shell. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * How to run one server, whatever it is: the supervisor follows it and knows nothing else. Plain data, since it is sent
 * to another process.
 */
export interface Recipe {
  /** Runs the server in the foreground: the server lives exactly as long as this program. */
  readonly run: Command;
  /** Ends it in an orderly way. */
  readonly stop: NodeJS.Signals | Command;
  /** Ends it at once. */
  readonly kill: NodeJS.Signals | Command;
  /** What is left to be removed afterwards. */
  readonly remove: { readonly folder: string } | Command;
}
