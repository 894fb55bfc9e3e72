import type { FailedJob, JobState } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

export const inspection: readonly Mutant[] = [
  mutant(
    'inspection/pending',
    'does not tell the unique key of a job',
    class extends ReferenceDriver {
      protected override async look(id: number): Promise<JobState | null> {
        const state = await super.look(id);
        return state === null ? null : { ...state, unique: null };
      }
    },
  ),
  mutant(
    'inspection/reserved',
    'tells a job with an expired claim for pending',
    class extends ReferenceDriver {
      protected override stateOf(row: Row): JobState['state'] {
        const state = super.stateOf(row);
        return state === 'expired' ? 'pending' : state;
      }
    },
  ),
  mutant(
    'inspection/released',
    'tells a released job for pending before it is due',
    class extends ReferenceDriver {
      protected override stateOf(row: Row): JobState['state'] {
        return row.attempts > 0 && row.reservedUntil === null ? 'pending' : super.stateOf(row);
      }
    },
  ),
  mutant(
    'inspection/gone',
    'throws where the job is gone',
    class extends ReferenceDriver {
      protected override async look(id: number): Promise<JobState | null> {
        const state = await super.look(id);
        if (state === null) throw new Error('no such job');
        return state;
      }
    },
  ),
  mutant(
    'inspection/ahead',
    'counts delayed and held jobs among those ahead',
    class extends ReferenceDriver {
      protected override ahead(row: Row): number {
        const rows = [...this.store.jobs.values()].filter(({ queue }) => queue === row.queue);
        return this.isPending(row) ? rows.filter((other) => this.order(other, row) < 0).length : 0;
      }
    },
  ),
  mutant(
    'inspection/ahead-within-a-priority',
    'counts the jobs of higher priority alone as ahead',
    class extends ReferenceDriver {
      protected override ahead(row: Row): number {
        if (!this.isPending(row)) return 0;
        return this.candidates(row.queue).filter((other) => other.priority > row.priority).length;
      }
    },
  ),
  mutant(
    'inspection/find-failed',
    'gives the newest failure where the id is not there',
    class extends ReferenceDriver {
      protected override async lookAtFailed(id: number): Promise<FailedJob | null> {
        return (await super.lookAtFailed(id)) ?? (await this.newest(1))[0] ?? null;
      }
    },
  ),
];
