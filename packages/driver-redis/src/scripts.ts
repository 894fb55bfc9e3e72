import { createHash } from 'node:crypto';
import { DELETE, EXTEND, FAIL, RELEASE } from './scripts/finish.js';
import { AHEAD, FIND, FIND_FAILED, PENDING, SCAN } from './scripts/look.js';
import { PRELUDE } from './scripts/prelude.js';
import { PUSH } from './scripts/push.js';
import { RESERVE } from './scripts/reserve.js';

export interface Script {
  readonly text: string;
  /** What the server knows it by. */
  readonly sha: string;
}

/** Answers with the server's time in milliseconds, and what it says of itself: nothing, where that was forbidden. */
const GREET = `
local info = redis.pcall('INFO')
return { whole(serverMs()), type(info) == 'string' and info or '' }
`;

/** A wakeup came to somebody who had no use for it: the next one who waits gets it, if the queue holds anything at all. */
const RING = `
if call('EXISTS', queues[1].levels) == 1 then ring(queues[1]) end
return 1
`;

/** Deletes all keys that it is given. */
const WIPE = `
for _, name in ipairs(KEYS) do call('DEL', name) end
return 1
`;

/**
 * Every script, whole: one for each thing that can happen to a job, and it happens in one step. The texts never depend on
 * anything; whatever is a caller's comes in as a key or an argument.
 */
export const SCRIPTS = {
  greet: script(GREET),
  push: script(PUSH),
  reserve: script(RESERVE),
  delete: script(DELETE),
  extend: script(EXTEND),
  release: script(RELEASE),
  fail: script(FAIL),
  pending: script(PENDING),
  find: script(FIND),
  scan: script(SCAN),
  ahead: script(AHEAD),
  findFailed: script(FIND_FAILED),
  ring: script(RING),
  wipe: script(WIPE),
} as const satisfies Readonly<Record<string, Script>>;

export type ScriptName = keyof typeof SCRIPTS;

function script(body: string): Script {
  const text = PRELUDE + body;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
