// The seconds that every store can hold and that still sort as text: 0000-01-01 00:00:00 to 9999-12-31 23:59:59.
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;

/** This moment as whole seconds since 1970, rounded **down**: what deadlines are compared with, and what "now" stores. */
export function secondsAt(now: Date): number {
  return Math.floor(now.getTime() / 1000);
}

/**
 * The end of a delay or a claim: `seconds` from `now`, rounded **up**, so that it never ends early. Zero or less is now,
 * rounded down: a push without delay is due at once, and a claim of 0 seconds has expired already.
 */
export function secondsAfter(now: Date, seconds: number): number {
  if (seconds <= 0) return secondsAt(now);
  return Math.min(Math.ceil(now.getTime() / 1000 + seconds), LAST_SECOND);
}

/**
 * The first whole second that is not before `moment`. A time kept in whole seconds is before `moment` exactly where it is
 * before this: so a bound with a fraction is compared in the stored form.
 */
export function secondsUpTo(moment: Date): number {
  return Math.max(FIRST_SECOND, Math.min(Math.ceil(moment.getTime() / 1000), LAST_SECOND));
}

/** `YYYY-MM-DD HH:MM:SS` in UTC: sorts as text, and means the same whatever the zone of process or server. */
export function stamp(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

/**
 * The moment of a stamp as it was stored, `YYYY-MM-DD HH:MM:SS` read as UTC; a fraction written by another hand is kept,
 * an explicit offset is obeyed, a bare date is its midnight.
 */
export function parseStamp(text: string): Date {
  const date = text.slice(0, 10);
  const time = text.slice(10).replace(' ', 'T');
  const isZoned = time === '' || /(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(time);
  return new Date(date + (isZoned ? time.replace(/([+-]\d\d)$/, '$1:00') : `${time}Z`));
}
