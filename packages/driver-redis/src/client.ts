import { QueueError } from '@q/core';
import { kindOf } from '@q/core/driver-kit';

/**
 * A `Redis` or `Cluster` of ioredis: what a driver is built on. Structural, so that an application with another copy of
 * the client passes its own. Nothing is ever sent on it.
 */
export interface RedisTemplate {
  readonly isCluster: boolean;
  readonly options: object;
  duplicate(...overrides: never[]): object;
}

/** A connection of the driver's own: to a server, or to the nodes of a cluster. */
export interface RedisClient {
  readonly isCluster: boolean;
  readonly status: string;
  /** The connection of a `Redis`. */
  readonly stream?: Socket | undefined;
  /** The nodes of a `Cluster`, a `Redis` each. */
  nodes?(): readonly { readonly stream?: Socket | undefined }[];
  connect(): Promise<unknown>;
  disconnect(): void;
  on(event: string, listener: (error: Error) => void): unknown;
  evalsha(sha: string, keys: number, words: readonly string[]): Promise<unknown>;
  eval(script: string, keys: number, words: readonly string[]): Promise<unknown>;
  bzpopmin(keys: readonly string[], seconds: number): Promise<unknown>;
}

interface Socket {
  readonly writable: boolean;
  readonly connecting: boolean;
  destroy(): unknown;
  resetAndDestroy?(): unknown;
}

/** What a driver is built on. Throws `invalid_option`. */
export function checkTemplate(value: unknown): RedisTemplate {
  // The cast: any object may be asked for any property.
  const candidate = (typeof value === 'object' && value !== null ? value : {}) as Partial<RedisTemplate>;
  if (typeof candidate.duplicate === 'function' && typeof candidate.isCluster === 'boolean') {
    return value as RedisTemplate;
  }
  throw new QueueError('invalid_option', `RedisDriver needs a Redis or Cluster of ioredis; got ${kindOf(value)}`);
}

/**
 * A client like the application's, to the same server and with the same credentials, but with nothing that would send a
 * command later, twice, elsewhere or under another key. It does not connect before it is told to, and never again: when
 * its connection is lost it is dead, and whoever needs one makes another.
 */
export function openClient(template: RedisTemplate): RedisClient {
  // The casts: `duplicate` takes these in every copy and version of ioredis, and gives a client of the same kind.
  const duplicate = template.duplicate.bind(template) as unknown as (...overrides: unknown[]) => RedisClient;
  const client = template.isCluster ? duplicate([], clusterOverrides(template)) : duplicate(OVERRIDES);
  // From its first tick on: an error without a listener would be printed, or end the process. Who sends hears of it.
  client.on('error', () => {});
  return client;
}

const never = () => null;

const OVERRIDES = {
  lazyConnect: true,
  retryStrategy: never,
  reconnectOnError: never,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: null,
  // Deadlines are the driver's: one that the client ends by itself leaves the command on its way.
  commandTimeout: undefined,
  socketTimeout: undefined,
  blockingTimeout: undefined,
  enableAutoPipelining: false,
  keyPrefix: '',
  stringNumbers: false,
  replyMapping: 'legacy',
  himportFieldsets: undefined,
  readOnly: false,
  // Where sentinels are asked for a node.
  role: 'master',
  monitor: false,
  scripts: undefined,
} as const;

function clusterOverrides({ options }: RedisTemplate): object {
  // The cast: where a Cluster keeps the options of its nodes.
  const { redisOptions } = options as { readonly redisOptions?: object };
  // Commands to a node that is not connected yet wait in its queue: for as long as their deadline, and no longer.
  const { lazyConnect, enableOfflineQueue, ...ofNodes } = OVERRIDES;
  return {
    lazyConnect,
    enableOfflineQueue,
    clusterRetryStrategy: never,
    clusterNodeRetryStrategy: null,
    // A command whose connection was lost may have been run. MOVED, ASK and TRYAGAIN, which were not, are followed.
    retryDelayOnFailover: 0,
    scaleReads: 'master',
    enableAutoPipelining: false,
    shardedSubscribers: false,
    keyPrefix: '',
    scripts: undefined,
    redisOptions: { ...redisOptions, ...ofNodes },
  };
}

/** Whether a command would be written at once. */
export function isWritable(client: RedisClient): boolean {
  return client.status === 'ready' && (client.isCluster || client.stream?.writable === true);
}

/** Ends a client that may be in the middle of something: what the system has not sent yet is never sent. */
export function breakOff(client: RedisClient): void {
  const sockets = client.isCluster ? (client.nodes?.() ?? []).map(({ stream }) => stream) : [client.stream];
  for (const socket of sockets) reset(socket);
  // Told twice, ioredis would wait for the end of a socket that has ended, and keep the process for as long.
  if (!ENDED.includes(client.status)) client.disconnect();
}

const ENDED: readonly string[] = ['close', 'end', 'disconnecting'];

function reset(socket: Socket | undefined): void {
  if (socket === undefined) return;
  try {
    // Destroying alone would leave the system to deliver what is in its buffers, a push among it, when the peer wakes up.
    if (!socket.connecting) socket.resetAndDestroy?.();
  } catch {
    // TLS and Unix sockets cannot be reset
  }
  socket.destroy();
}
