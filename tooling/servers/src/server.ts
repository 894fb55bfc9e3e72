/**
 * A server that a test may do anything to. Every kind of server has a function that starts one (`startPostgres`, …) and
 * gives this; what a test does with it does not depend on where it came from.
 */
export interface Server extends AsyncDisposable {
  /** Where a client connects, credentials included. The same for as long as the server lives, restarts included. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** `environment`: it is somebody else's. It cannot be ended, and `stop`, `kill`, `start` and `readOnly` reject. */
  readonly source: ServerSource;
  /** Ends it as an administrator would, connections and all. Its data stay, for `start`. */
  stop(): Promise<void>;
  /** Ends it by SIGKILL: nothing is said to anybody. Its data stay, for `start`. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and data; resolves when it answers. */
  start(): Promise<void>;
  /** `stop`, then `start`. */
  restart(): Promise<void>;
  /** Makes it refuse writes, as the old primary does after a failover, or take them again. Connections stay open. */
  readOnly(on: boolean): Promise<void>;
  /** Ends it and deletes all that it stored. Also what disposing of it does. Does nothing to one from the environment. */
  close(): Promise<void>;
}

export type ServerSource = 'environment' | 'binaries' | 'docker';

/** A database, a schema or a prefix of one test file's own on a server that is shared. */
export interface Space extends AsyncDisposable {
  readonly url: string;
  /** Deletes it and what is in it. */
  drop(): Promise<void>;
}

export interface StartOptions {
  /**
   * False (the default) trades durability for speed: what a crash of the machine could lose is not waited for. A killed
   * server still finds everything that was committed. True: the server's own defaults.
   */
  readonly durable?: boolean;
  /** Never a server from the environment: for tests that stop it, or make it read-only. */
  readonly own?: boolean;
  /** Settings of the server, by its own names: `{ max_connections: '50' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}
