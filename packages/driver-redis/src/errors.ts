import { isQueueError, QueueError } from '@q/core';

/**
 * What a node says that cannot be written now: a replica after a failover (to whoever waits just then, UNBLOCKED), or a
 * server that is still loading its data.
 */
const WRONG_NODE: readonly string[] = ['READONLY', 'LOADING', 'MASTERDOWN', 'UNBLOCKED'];

/** What our scripts say where the call came too late by the server's clock, as far as that is known. */
const LATE = 'LATE';

/** What says that a cluster has no node for the keys just now. */
const NO_NODE: readonly string[] = ['CLUSTERDOWN', 'MOVED', 'ASK', 'TRYAGAIN'];

/**
 * The word that a reply of the server's begins with, which is its code; null for an error of the client's. Before Redis 7
 * the code of an error inside a script comes after the script's.
 */
export function replyCode(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return null;
  return /^(?:ERR Error running script.*: -)?([A-Z]+)\b/s.exec(error.message)?.[1] ?? 'ERR';
}

export function isNoScript(error: unknown): boolean {
  return replyCode(error) === 'NOSCRIPT';
}

/** Whether a script refused to begin because it got to the server after the call had been given up. */
export function isLate(error: unknown): boolean {
  return replyCode(error) === LATE;
}

/** Whether a connection is as good as before: not where it failed, nor where its node is not the one to talk to. */
export function isHarmless(error: unknown): boolean {
  const code = replyCode(error);
  return code !== null && !WRONG_NODE.includes(code) && !NO_NODE.includes(code);
}

/** An error of a call that was sent, in the terms of q where q has something to say; any other as it is. */
export function explained(error: unknown): unknown {
  if (isQueueError(error)) return error;
  forgetArguments(error);
  const code = replyCode(error);
  if (code === null) {
    return new QueueError(
      'outcome_unknown',
      'The connection to Redis was lost after the call was sent: it may or may not have taken effect',
      { cause: error },
    );
  }
  const why = EXPLANATIONS[code];
  return why === undefined ? error : new QueueError('store_unavailable', why, { cause: error });
}

/** ioredis notes on its errors what was sent: a payload or a password, which whoever prints the error would print. */
function forgetArguments(error: unknown): void {
  if (typeof error === 'object' && error !== null) Reflect.deleteProperty(error, 'command');
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  OOM: 'Redis has used up its memory (maxmemory), so nothing was stored. Jobs can still be reserved and completed',
  READONLY: 'This Redis takes no writes: it is a replica now. Nothing was done; the next call connects anew',
  LOADING: 'Redis is still loading its data. Nothing was done',
  MASTERDOWN: 'This Redis is a replica that has lost its master. Nothing was done; the next call connects anew',
  LATE: 'The clock of Redis is being changed, so that no call can be timed. Nothing was done',
  CLUSTERDOWN: 'The cluster has no node for the keys of this prefix just now. Nothing was done',
};

export function closedDriver(): QueueError {
  return new QueueError('store_unavailable', 'This RedisDriver was closed');
}

/** The error of a call for which no connection was had: whatever the reason, it was not sent. */
export function notConnected(error: unknown): unknown {
  // Of a cluster: what the last of its nodes said. The cast: anything may be asked for any property.
  const { lastNodeError } = Object(error) as { readonly lastNodeError?: unknown };
  for (const reason of [error, lastNodeError]) {
    if (isQueueError(reason) || replyCode(reason) !== null) return explained(reason);
  }
  return new QueueError('store_unavailable', 'Redis cannot be reached; nothing was sent', { cause: error });
}

export function connectTimedOut(seconds: number): QueueError {
  return new QueueError('store_unavailable', `Redis could not be reached within ${seconds} s; nothing was sent`);
}

export function callTimedOut(seconds: number): QueueError {
  return new QueueError(
    'call_timeout',
    `Redis did not answer within ${seconds} s (callTimeout); what became of the call is unknown`,
  );
}

export function tooOld(version: string): QueueError {
  return new QueueError('store_unavailable', `RedisDriver needs Redis 6.2 or later; this server is ${version}`);
}

export function idOutOfRange(counter: string): QueueError {
  return new QueueError(
    'id_out_of_range',
    `The counter ${counter} has come to ids above 2^53 − 1, which a JavaScript number cannot hold. Nothing was stored`,
  );
}
