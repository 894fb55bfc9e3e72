import { STORE_KINDS } from '../stores/start-store.js';
import type { Disturbance } from '../storm.js';

const HOUR = 3_600;

/**
 * One worker's clock is an hour ahead, so that every claim of the others looks expired to it. A claim is a deadline, so it
 * takes them over: jobs run twice, and a worker may find its job gone. None is lost, and none ends twice.
 */
export const clockAhead: Disturbance = {
  name: 'a clock an hour ahead',
  appliesTo: STORE_KINDS,
  pauseMs: 1_000,
  waives: ['claims_overlapped'],
  clockShiftSeconds: HOUR,
  disturb: async () => {},
};

/** One worker's clock is an hour behind: its claims look expired to the others from the start. */
export const clockBehind: Disturbance = {
  ...clockAhead,
  name: 'a clock an hour behind',
  clockShiftSeconds: -HOUR,
};
