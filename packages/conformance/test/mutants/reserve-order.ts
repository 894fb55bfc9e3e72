import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

type Order = (a: Row, b: Row) => number;

function ordering(order: Order): DriverClass {
  return class extends ReferenceDriver {
    protected override order(a: Row, b: Row): number {
      return order(a, b);
    }
  };
}

export const reserveOrder: readonly Mutant[] = [
  mutant(
    'reserve-order/queues-as-given',
    'walks the queues by name',
    class extends ReferenceDriver {
      override async reserve(queues: readonly string[], timeout: number, worker: string) {
        return super.reserve([...queues].sort(), timeout, worker);
      }
    },
  ),
  mutant(
    'reserve-order/next-queue-behind-delayed',
    'stops at a first queue that holds delayed jobs alone',
    class extends ReferenceDriver {
      override async reserve(queues: readonly string[], timeout: number, worker: string) {
        const rows = [...this.store.jobs.values()].filter((row) => row.queue === queues[0]);
        const stuck = rows.length > 0 && rows.every((row) => !this.isDue(row));
        return super.reserve(stuck ? queues.slice(0, 1) : queues, timeout, worker);
      }
    },
  ),
  mutant(
    'reserve-order/next-queue-behind-held',
    'stops at a first queue whose jobs are all held',
    class extends ReferenceDriver {
      override async reserve(queues: readonly string[], timeout: number, worker: string) {
        const rows = [...this.store.jobs.values()].filter((row) => row.queue === queues[0]);
        const stuck = rows.length > 0 && rows.every((row) => this.isHeld(row));
        return super.reserve(stuck ? queues.slice(0, 1) : queues, timeout, worker);
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
      override async reserve(queues: readonly string[], timeout: number, worker: string) {
        if (new Set(queues).size < queues.length) throw new Error('a queue is named twice');
        return super.reserve(queues, timeout, worker);
      }
    },
  ),
  mutant(
    'reserve-order/priority',
    'takes the lowest priority first',
    ordering((a, b) => a.priority - b.priority || a.availableAt - b.availableAt || a.id - b.id),
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
    class extends ReferenceDriver {
      protected override candidates(queue: string): Row[] {
        const levels = [...this.store.jobs.values()].filter((row) => row.queue === queue && !this.isHeld(row));
        const highest = Math.max(...levels.map(({ priority }) => priority));
        return super.candidates(queue).filter(({ priority }) => priority === highest);
      }
    },
  ),
  mutant(
    'reserve-order/held-priority-holds-nothing-up',
    'gives up where the first row it finds is held',
    class extends ReferenceDriver {
      protected override candidates(queue: string): Row[] {
        const due = [...this.store.jobs.values()].filter((row) => row.queue === queue && this.isDue(row));
        const [first] = due.sort((a, b) => this.order(a, b));
        return first === undefined || this.isHeld(first) ? [] : super.candidates(queue);
      }
    },
  ),
  mutant(
    'reserve-order/expired-keeps-its-place',
    'takes expired claims after all others',
    ordering((a, b) => Number(a.reservedUntil !== null) - Number(b.reservedUntil !== null) || b.priority - a.priority),
  ),
  mutant(
    'reserve-order/earliest-due',
    'takes the lowest id before the earliest due',
    ordering((a, b) => b.priority - a.priority || a.id - b.id),
  ),
  mutant(
    'reserve-order/lowest-id',
    'takes the highest id among jobs due in the same second',
    ordering((a, b) => b.priority - a.priority || a.availableAt - b.availableAt || b.id - a.id),
  ),
  mutant(
    'reserve-order/released-by-new-due-time',
    'takes released jobs by the time they were pushed',
    ordering((a, b) => b.priority - a.priority || a.createdAt - b.createdAt || a.id - b.id),
  ),
];
