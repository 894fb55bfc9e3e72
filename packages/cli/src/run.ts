import type { ExitCode } from './errors.js';
import type { Session } from './session.js';

/** Runs a command's action; what it resolves to, or throws, decides the exit code of the process. */
export type Run = (action: (session: Session) => Promise<ExitCode>) => Promise<void>;
