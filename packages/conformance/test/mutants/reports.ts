import type { FailedJob, QueueStats } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

export const reports: readonly Mutant[] = [
  mutant(
    'stats/by-queue',
    'counts no more than one delayed job of a queue in its stats',
    class extends ReferenceDriver {
      protected override statsOf(queue: string, rows: readonly Row[]): QueueStats {
        const stats = super.statsOf(queue, rows);
        return { ...stats, delayed: Math.min(stats.delayed, 1) };
      }
    },
  ),
  mutant(
    'stats/expired-is-pending',
    'counts expired claims as reserved in its stats',
    class extends ReferenceDriver {
      protected override statsOf(queue: string, rows: readonly Row[]): QueueStats {
        const expired = rows.filter((row) => row.reservedUntil !== null && !this.isHeld(row)).length;
        const { pending, reserved, ...rest } = super.statsOf(queue, rows);
        return { ...rest, pending: pending - expired, reserved: reserved + expired };
      }
    },
  ),
  mutant(
    'stats/delayed-until-due',
    'counts a job as delayed in the second it is due',
    class extends ReferenceDriver {
      protected override statsOf(queue: string, rows: readonly Row[]): QueueStats {
        const now = this.seconds();
        const justDue = rows.filter((row) => row.availableAt === now && row.createdAt < now).length;
        const { pending, delayed, ...rest } = super.statsOf(queue, rows);
        return { ...rest, pending: pending - justDue, delayed: delayed + justDue };
      }
    },
  ),
  mutant(
    'stats/ordered-by-name',
    'lists queues in the order they were first used',
    class extends ReferenceDriver {
      protected override async allStats(): Promise<QueueStats[]> {
        const queues = [...new Set([...this.store.jobs.values()].map(({ queue }) => queue))];
        const stats = await super.allStats();
        return stats.sort((a, b) => queues.indexOf(a.queue) - queues.indexOf(b.queue));
      }
    },
  ),
  mutant(
    'stats/no-empty-queues',
    'lists queues that hold failed jobs alone',
    class extends ReferenceDriver {
      protected override async allStats(): Promise<QueueStats[]> {
        const stats = await super.allStats();
        const failed = [...this.store.failed.values()].filter((row) => stats.every(({ queue }) => queue !== row.queue));
        return [...stats, ...failed.map(({ queue }) => ({ queue, pending: 0, delayed: 0, reserved: 0, total: 0 }))];
      }
    },
  ),
  mutant(
    'failed-rows/whole-row',
    'shows the first characters of a failed row’s payload as a preview',
    class extends ReferenceDriver {
      protected override async newest(limit: number): Promise<FailedJob[]> {
        const rows = await super.newest(limit);
        return rows.map((row) => ({ ...row, payloadJson: row.payloadJson.slice(0, 4) }));
      }
    },
  ),
  mutant(
    'failed-rows/newest-first',
    'lists failures by id',
    class extends ReferenceDriver {
      protected override async newest(limit: number): Promise<FailedJob[]> {
        return (await super.newest(Number.MAX_SAFE_INTEGER)).sort((a, b) => b.id - a.id).slice(0, limit);
      }
    },
  ),
  mutant(
    'failed-rows/ties-by-id',
    'lists failures of one second oldest first',
    class extends ReferenceDriver {
      protected override async newest(limit: number): Promise<FailedJob[]> {
        const rows = await super.newest(limit);
        return rows.sort((a, b) => b.failedAt.getTime() - a.failedAt.getTime() || a.id - b.id);
      }
    },
  ),
  mutant(
    'failed-rows/limit',
    'lists one failure more than the limit where that is above one',
    class extends ReferenceDriver {
      protected override async newest(limit: number): Promise<FailedJob[]> {
        return super.newest(limit > 1 ? limit + 1 : limit);
      }
    },
  ),
  mutant(
    'failed-rows/ids-are-not-reused',
    'gives a failure the lowest id that is free',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        let id = 1;
        while (this.store.failed.has(id)) id += 1;
        super.moveToFailed(row, error);
        const [last, failed] = [...this.store.failed].at(-1) ?? [];
        if (last === undefined || failed === undefined) return;
        this.store.failed.delete(last);
        this.store.failed.set(id, { ...failed, id });
      }
    },
  ),
];
