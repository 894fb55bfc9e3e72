import type { Session } from './session.js';

/**
 * Whether a server of this version has FOR UPDATE SKIP LOCKED: MySQL from 8.0.0, MariaDB from 10.6.0. What cannot be read
 * gets no clause, which costs throughput and never correctness; a clause that the server does not know would cost every
 * claim.
 *
 * A MariaDB may announce itself as 5.5.5-10.11.6-MariaDB: older clients believe that what begins with 10 is too new. TiDB
 * announces the MySQL it imitates, and refuses the clause.
 */
export function canSkipLocked(version: string): boolean {
  if (/tidb/i.test(version)) return false;
  const numbers = /^(\d+)\.(\d+)\.(\d+)/.exec(version.replace(/^5\.5\.5-/, ''));
  if (numbers === null) return false;
  const [major, minor] = [Number(numbers[1]), Number(numbers[2])];
  return /mariadb/i.test(version) ? major > 10 || (major === 10 && minor >= 6) : major >= 8;
}

/** The server behind one driver, asked once what it can do: another driver in the same process may have another server. */
export class Server {
  #skipsLocked: boolean | null = null;

  async skipsLocked(session: Session): Promise<boolean> {
    if (this.#skipsLocked === null) {
      const row = await session.first<{ readonly version: string }>('version');
      this.#skipsLocked = canSkipLocked(row?.version ?? '');
    }
    return this.#skipsLocked;
  }
}
