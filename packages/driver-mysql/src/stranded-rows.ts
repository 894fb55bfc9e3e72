import type { QueueWarning } from '@q/core';
import type { Connection } from './connection.js';

// Looked for when nothing is due, and not every time: it costs a round trip, and there hardly ever are any.
const PERIOD_MS = 60_000;

/** Warns of rows that no claim takes, because no JavaScript number can name them. */
export class StrandedRows {
  readonly #table: string;
  readonly #warn: (warning: QueueWarning) => void;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(table: string, warn: (warning: QueueWarning) => void) {
    this.#table = table;
    this.#warn = warn;
  }

  async look(connection: Connection): Promise<void> {
    if (performance.now() - this.#lookedMs < PERIOD_MS) return;
    this.#lookedMs = performance.now();
    if ((await connection.read((session) => session.first('findStranded'))) === undefined) return;
    this.#warn({
      code: 'id_out_of_range',
      message: `${this.#table} holds jobs with ids above 2^53 − 1, which no JavaScript number can hold; they are left alone`,
    });
  }
}
