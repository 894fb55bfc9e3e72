import type { QueueWarning } from '@q/core';
import type { Connection } from './connection.js';
import type { KnownLevels } from './levels.js';

/** What whatever a driver does is done with. */
export interface Context {
  readonly connection: Connection;
  readonly levels: KnownLevels;
  readonly now: () => Date;
  readonly warn: (warning: QueueWarning) => void;
}
