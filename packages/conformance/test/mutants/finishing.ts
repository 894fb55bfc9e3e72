import type { Claim, ReservedJob } from '@q/core';
import { trimErrorText } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

const TRUNCATED = '\n... truncated';

/** A driver that changes the error it stores when it is told to `method`. */
function storing(method: 'release' | 'fail', stored: (error: string) => string): DriverClass {
  return class extends ReferenceDriver {
    protected override trimError(error: string): string {
      return typeof error === 'string' ? error : super.trimError(error);
    }
    protected override released(row: Row, delay: number, error: string): void {
      super.released(row, delay, method === 'release' ? stored(error) : trimErrorText(error));
    }
    protected override moveToFailed(row: Row, error: string): void {
      super.moveToFailed(row, method === 'fail' ? stored(error) : trimErrorText(error));
    }
  };
}

const errorMutants = (['release', 'fail'] as const).flatMap((method) => [
  mutant(
    `error-text/${method}-whole`,
    `cuts an error of exactly 60,000 bytes when it is told to ${method}`,
    storing(method, (error) => (Buffer.byteLength(error) === 60_000 ? `${error}${TRUNCATED}` : trimErrorText(error))),
  ),
  mutant(
    `error-text/${method}-cut`,
    `stores errors of any length when it is told to ${method}`,
    storing(method, (error) => error.replace(/[\0\ud800-\udfff]/g, '?')),
  ),
  mutant(
    `error-text/${method}-cut-between-characters`,
    `cuts an error inside a character when it is told to ${method}`,
    storing(method, (error) =>
      Buffer.byteLength(error) > 60_000 ? Buffer.from(error).subarray(0, 60_000).toString() + TRUNCATED : error,
    ),
  ),
  mutant(
    `error-text/${method}-storable`,
    `chokes on NUL in an error when it is told to ${method}`,
    storing(method, (error) => {
      if (error.includes('\0')) throw new Error('invalid byte sequence for encoding "UTF8": 0x00');
      return trimErrorText(error);
    }),
  ),
]);

export const finishing: readonly Mutant[] = [
  mutant(
    'release/back-after-its-delay',
    'makes every released job due at once',
    class extends ReferenceDriver {
      protected override released(row: Row, _delay: number, error: string): void {
        super.released(row, 0, error);
      }
    },
  ),
  mutant(
    'release/ends-the-claim',
    'keeps the claim of a released job until its deadline',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        const { reservedUntil } = row;
        super.released(row, delay, error);
        row.reservedUntil = reservedUntil;
      }
    },
  ),
  mutant(
    'release/keeps-attempts',
    'gives the attempt back when a job is released on purpose',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        super.released(row, delay, error);
        if (error === '') row.attempts -= 1;
      }
    },
  ),
  mutant(
    'release/changes-nothing-else',
    'lowers the priority of a released job',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        super.released(row, delay, error);
        row.priority -= 1;
      }
    },
  ),
  mutant(
    'release/empty-error-overwrites',
    'keeps the last error where the new one is empty',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        super.released(row, delay, error === '' ? row.lastError : error);
      }
    },
  ),
  mutant(
    'finish/deleted-is-gone',
    'keeps a copy of what is done in the failed store',
    class extends ReferenceDriver {
      override async delete(claim: Claim): Promise<boolean> {
        return super.fail(claim, '');
      }
    },
  ),
  mutant(
    'finish/failed-is-not-run-again',
    'copies a failed job and leaves it where it was, for its claim to expire',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed(row, error);
        this.store.jobs.set(row.id, row);
      }
    },
  ),
  mutant(
    'finish/failed-moves',
    'forgets the attempts of a failed job',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed({ ...row, attempts: 0 }, error);
      }
    },
  ),
  mutant(
    'finish/each-failure-has-its-row',
    'keeps the last failure of a name alone',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        for (const { id, name } of [...this.store.failed.values()]) if (name === row.name) this.store.failed.delete(id);
        super.moveToFailed(row, error);
      }
    },
  ),
  mutant(
    'finish/fail-once',
    'copies to the failed store, and deletes a round trip later',
    class extends ReferenceDriver {
      override async fail(claim: Claim, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row === undefined || !this.isClaimOf(claim, row)) return super.fail(claim, error);
        this.moveToFailed({ ...row, id: -1 }, error);
        return super.delete(claim);
      }
    },
  ),
  ...errorMutants,
  mutant(
    'pending/due-jobs',
    'gives a count as text, as some clients do',
    class extends ReferenceDriver {
      override async pending(queue?: string | null): Promise<number> {
        return String(await super.pending(queue)) as unknown as number;
      }
    },
  ),
  mutant(
    'pending/not-delayed',
    'counts delayed jobs as pending',
    counting((row) => row.availableAt > 0),
  ),
  mutant(
    'pending/not-held',
    'counts held jobs as pending',
    counting((row) => row.reservedUntil !== null),
  ),
  mutant(
    'pending/expired',
    'counts expired claims as held',
    class extends ReferenceDriver {
      override async pending(queue?: string | null): Promise<number> {
        const expired = [...this.store.jobs.values()].filter(
          (row) => this.isPending(row) && row.reservedUntil !== null,
        );
        return (await super.pending(queue)) - expired.length;
      }
    },
  ),
  mutant(
    'pending/by-queue',
    'counts all queues whichever is named',
    class extends ReferenceDriver {
      override async pending(queue?: string | null): Promise<number> {
        await super.pending(queue);
        return super.pending();
      }
    },
  ),
  mutant(
    'payloads/byte-for-byte',
    'decodes a payload and encodes it again when the job fails',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed({ ...row, payloadJson: encodedAgain(row.payloadJson) }, error);
      }
    },
  ),
  mutant(
    'payloads/byte-for-byte',
    'loses white space at the end of a payload',
    class extends ReferenceDriver {
      protected override inHand(row: Row, reclaimed: boolean): ReservedJob | null {
        return super.inHand({ ...row, payloadJson: row.payloadJson.trimEnd() }, reclaimed);
      }
    },
  ),
];

/** A driver that counts in pending what it should leave out as well. */
function counting(also: (row: Row) => boolean): DriverClass {
  return class extends ReferenceDriver {
    override async pending(queue?: string | null): Promise<number> {
      const more = [...this.store.jobs.values()].filter((row) => !this.isPending(row) && also(row));
      return (await super.pending(queue)) + more.filter((row) => queue == null || row.queue === queue).length;
    }
  };
}

function encodedAgain(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}
