import type { ReservedJob } from '@q/core';
import type { ClaimRequest, EncodedJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { Doers, type Mutant, mutant, only } from './mutant.js';

type Order = (a: Row, b: Row) => number;

/** A driver whose reserve takes jobs in an order of its own. */
function ordering(order: Order): DriverClass {
  return only(
    ['reserve'],
    class extends ReferenceDriver {
      protected override order(a: Row, b: Row): number {
        return order(a, b);
      }
    },
  );
}

/** A driver whose reserve finds nothing where it gets stuck at the first of its queues. */
class Stuck extends ReferenceDriver {
  protected override async take(request: ClaimRequest): Promise<ReservedJob | null> {
    return this.isStuck(request.queues) ? null : super.take(request);
  }

  protected isStuck(_queues: readonly string[]): boolean {
    return false;
  }

  protected rowsOf(queue: string | undefined): Row[] {
    return [...this.store.jobs.values()].filter((row) => row.queue === queue).sort((a, b) => this.order(a, b));
  }
}

/** A driver that gives up at a level of priority all of which another client holds. */
function stuckAtOthers(): DriverClass {
  const holders = new Doers();
  return class extends Stuck {
    protected override claim(row: Row, timeout: number, worker: string): void {
      super.claim(row, timeout, worker);
      holders.note(row, this);
    }
    protected override isStuck([queue]: readonly string[]): boolean {
      const [first] = this.rowsOf(queue);
      return first !== undefined && this.isHeld(first) && holders.isAnother(first, this);
    }
  };
}

export const reserveOrder: readonly Mutant[] = [
  mutant(
    'reserve-order/queues-as-given',
    'walks the queues by name',
    class extends ReferenceDriver {
      protected override take(request: ClaimRequest): Promise<ReservedJob | null> {
        return super.take({ ...request, queues: [...request.queues].sort() });
      }
    },
  ),
  mutant(
    'reserve-order/next-queue-behind-delayed',
    'stops at a first queue that holds delayed jobs alone',
    class extends Stuck {
      protected override isStuck([first]: readonly string[]): boolean {
        const rows = this.rowsOf(first);
        return rows.length > 0 && rows.every((row) => !this.isDue(row));
      }
    },
  ),
  mutant(
    'reserve-order/next-queue-behind-held',
    'stops at an empty queue behind one whose jobs are held',
    class extends Stuck {
      protected override isStuck([first, second]: readonly string[]): boolean {
        const rows = this.rowsOf(first);
        const isHeld = rows.length > 0 && rows.every((row) => this.isHeld(row));
        return isHeld && second !== undefined && this.rowsOf(second).length === 0;
      }
    },
  ),
  mutant(
    'reserve-order/only-queues-named',
    'takes a queue name for a pattern',
    class extends ReferenceDriver {
      protected override sameQueue(a: string, b: string): boolean {
        return b === '%' || a === b;
      }
    },
  ),
  mutant(
    'reserve-order/queue-named-twice',
    'refuses a queue named twice',
    class extends ReferenceDriver {
      protected override async take(request: ClaimRequest): Promise<ReservedJob | null> {
        if (new Set(request.queues).size < request.queues.length) throw new Error('a queue is named twice');
        return super.take(request);
      }
    },
  ),
  mutant(
    'reserve-order/priority',
    'takes the lowest priority first below zero',
    ordering((a, b) => {
      const isBelow = a.priority < 0 && b.priority < 0;
      const first = isBelow ? a.priority - b.priority : b.priority - a.priority;
      return first || a.availableAt - b.availableAt || a.id - b.id;
    }),
  ),
  mutant(
    'reserve-order/priority',
    'compares priorities as text',
    ordering((a, b) => (String(b.priority) < String(a.priority) ? -1 : 1)),
  ),
  mutant(
    'reserve-order/priority-before-age',
    'takes the job due longest before the one of higher priority',
    ordering((a, b) => a.availableAt - b.availableAt || b.priority - a.priority || a.id - b.id),
  ),
  mutant(
    'reserve-order/delayed-priority-holds-nothing-up',
    'looks at the highest priority level alone, due or not',
    class extends Stuck {
      protected override isStuck([queue]: readonly string[]): boolean {
        const [first, ...others] = this.rowsOf(queue).filter((row) => !this.isHeld(row));
        return first !== undefined && !this.isDue(first) && others.some((row) => this.isDue(row));
      }
    },
  ),
  mutant(
    'reserve-order/held-priority-holds-nothing-up',
    'gives up where another client holds the first row it finds',
    stuckAtOthers(),
  ),
  mutant(
    'reserve-order/expired-keeps-its-place',
    'takes expired claims after all others',
    ordering((a, b) => {
      const expiredLast = Number(a.reservedUntil !== null) - Number(b.reservedUntil !== null);
      return expiredLast || b.priority - a.priority || a.availableAt - b.availableAt || a.id - b.id;
    }),
  ),
  mutant(
    'reserve-order/earliest-due',
    'takes jobs that were never claimed in the order of their ids',
    ordering((a, b) => {
      const byAge = a.attempts + b.attempts === 0 ? 0 : a.availableAt - b.availableAt;
      return b.priority - a.priority || byAge || a.id - b.id;
    }),
  ),
  mutant(
    'reserve-order/lowest-id',
    'takes jobs that became due in the same second by the millisecond they were pushed in',
    byMillisecond(),
  ),
  mutant(
    'reserve-order/released-by-new-due-time',
    'takes a released job by the time it was pushed',
    ordering((a, b) => {
      const age = (row: Row): number => (row.attempts > 0 ? row.createdAt : row.availableAt);
      return b.priority - a.priority || age(a) - age(b) || a.id - b.id;
    }),
  ),
];

function byMillisecond(): DriverClass {
  return class extends ReferenceDriver {
    readonly #milliseconds = new WeakMap<Row, number>();
    protected override newRow(job: EncodedJob): Row {
      const row = super.newRow(job);
      this.#milliseconds.set(row, this.now().getTime());
      return row;
    }
    protected override order(a: Row, b: Row): number {
      const age = (row: Row): number => this.#milliseconds.get(row) ?? row.createdAt * 1000;
      return b.priority - a.priority || a.availableAt - b.availableAt || age(a) - age(b) || a.id - b.id;
    }
  };
}
