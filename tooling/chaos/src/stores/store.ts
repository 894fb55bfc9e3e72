import type { Relay, Server } from '@q/servers';
import type { FinalState } from '../checker.js';
import type { Place, StoreKind } from './client.js';
import type { SmallDisk } from './small-disk.js';

/** A store that a storm may do anything to; its server outlives many storms. */
export interface ChaosStore extends AsyncDisposable {
  readonly kind: StoreKind;
  /** Null for SQLite, as is the relay. */
  readonly server: Server | null;
  /** What the processes of a storm connect through. */
  readonly relay: Relay | null;
  /** Where its data are, if it was asked for one. */
  readonly disk: SmallDisk | null;
  /** Empty tables, or an empty prefix, for one storm. */
  open(): Promise<Space>;
}

export interface Space extends AsyncDisposable {
  /** By way of the relay. */
  readonly place: Place;
  /** How many jobs are there, whatever their state. */
  left(): Promise<number>;
  finalState(): Promise<FinalState>;
}
